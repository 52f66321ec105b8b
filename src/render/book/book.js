// Adds a search and sorting to the table of arguments. All that it shows is in the page already.
"use strict";
{
  const table = document.querySelector("table");
  const body = table.tBodies[0];
  const rows = Array.from(body.rows, (row, at) => {
    const cells = Array.from(row.cells, (cell) => cell.textContent.trim());
    return { row, at, cells, text: [...cells, row.dataset.help ?? ""].join(" ").toLowerCase() };
  });

  const search = document.getElementById("search");
  const input = document.getElementById("q");
  const count = document.getElementById("count");
  const none = document.getElementById("none");

  function find() {
    const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
    let shown = 0;
    for (const { row, text } of rows) {
      row.hidden = !words.every((word) => text.includes(word));
      shown += row.hidden ? 0 : 1;
    }
    none.hidden = shown > 0;
    count.textContent = words.length ? `${shown} of ${rows.length}` : `${rows.length} arguments`;
  }

  input.addEventListener("input", find);
  search.hidden = false;
  find();

  // Up, down, and back to the order of the source; what is empty stays at the end.
  const next = { none: "ascending", ascending: "descending", descending: "none" };
  const order = new Intl.Collator("en", { numeric: true, sensitivity: "base" });
  const headings = Array.from(table.tHead.rows[0].cells);

  function sort(column, direction) {
    const sign = { none: 0, ascending: 1, descending: -1 }[direction];
    const compare = (a, b) => {
      const [one, other] = [a.cells[column], b.cells[column]];
      if (sign && !one !== !other) return one ? -1 : 1;
      return sign * order.compare(one, other) || a.at - b.at;
    };
    body.append(...[...rows].sort(compare).map(({ row }) => row));
  }

  headings.forEach((heading, column) => {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = heading.textContent;
    heading.replaceChildren(button);
    heading.setAttribute("aria-sort", "none");
    button.addEventListener("click", () => {
      const direction = next[heading.getAttribute("aria-sort")];
      headings.forEach((other) => other.setAttribute("aria-sort", other === heading ? direction : "none"));
      sort(column, direction);
    });
  });
}
