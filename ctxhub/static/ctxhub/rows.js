// A list by keys: j and k move, x selects, Enter opens (a row is a link), f leads to the filters, / to the search.
document.addEventListener("DOMContentLoaded", () => {
  const list = document.getElementById("result_list");
  const form = document.getElementById("changelist-form");
  const rows = list ? [...list.querySelectorAll(".ctx-row")] : [];
  const boxes = list ? [...list.querySelectorAll(".action-select")] : [];
  const all = document.getElementById("action-toggle");
  const count = document.getElementById("ctx-bulk-count");
  const across = form?.querySelector("[data-across]");
  const acrossField = form?.querySelector(".select-across");
  const told = count?.textContent;
  let lastBox = null;

  const target = (row) => row.querySelector("a.ctx-row-title, .ctx-row-title a") ?? row;
  const current = () => document.activeElement?.closest(".ctx-row") ?? list?.querySelector(".ctx-row[aria-current]");

  function show() {
    const chosen = boxes.filter((box) => box.checked).length;
    for (const box of boxes) box.closest(".ctx-row").toggleAttribute("data-selected", box.checked);
    if (all) {
      all.checked = chosen > 0 && chosen === boxes.length;
      all.indeterminate = chosen > 0 && chosen < boxes.length;
    }
    if (across) across.hidden = chosen < boxes.length || chosen === 0 || acrossField.value === "1";
    const number = acrossField?.value === "1" ? across.dataset.across : chosen;
    if (count) count.textContent = chosen ? `${number} selected` : told;
  }

  function choose(box, isRange) {
    const [from, to] = [boxes.indexOf(lastBox), boxes.indexOf(box)].sort((a, b) => a - b);
    if (isRange && from >= 0) for (const each of boxes.slice(from, to + 1)) each.checked = box.checked;
    lastBox = box;
    if (acrossField) acrossField.value = "0";
    show();
  }

  for (const box of boxes) box.addEventListener("click", (event) => choose(box, event.shiftKey));
  all?.addEventListener("change", () => {
    for (const box of boxes) box.checked = all.checked;
    acrossField.value = "0";
    show();
  });
  across?.addEventListener("click", () => {
    acrossField.value = "1";
    show();
  });
  show(); // A browser that goes back keeps what was chosen.

  function move(step) {
    const at = rows.indexOf(current());
    const next = rows[at < 0 ? (step > 0 ? 0 : rows.length - 1) : Math.max(0, Math.min(rows.length - 1, at + step))];
    if (!next) return;
    target(next).focus({ preventScroll: true });
    next.scrollIntoView({ block: "nearest" });
    next.dispatchEvent(new CustomEvent("ctx-reached", { bubbles: true }));
  }

  const keys = {
    j: () => move(1),
    k: () => move(-1),
    x: () => current()?.querySelector(".action-select")?.click(),
    f: () => document.querySelector(".ctx-facet-bar :is(a, summary)")?.focus(),
    "/": () => document.getElementById("searchbar")?.select(),
  };

  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape") {
      const open = document.activeElement?.closest(".ctx-menu[open]") ?? document.querySelector(".ctx-menu[open]");
      if (!open) return;
      open.open = false;
      open.querySelector("summary").focus();
      event.stopImmediatePropagation();
      return;
    }
    const isTyping = document.activeElement?.closest("input:not([type=checkbox]), textarea, select, [contenteditable], dialog");
    if (isTyping || event.ctrlKey || event.metaKey || event.altKey || !keys[event.key]) return;
    event.preventDefault();
    keys[event.key]();
  });

  // One menu at a time, and none once the person looks elsewhere.
  document.addEventListener("click", ({ target: clicked }) => {
    for (const menu of document.querySelectorAll(".ctx-menu[open]")) if (!menu.contains(clicked)) menu.open = false;
  });
});
