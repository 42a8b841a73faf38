// Whoever has moved both handles by mouse or finger sees the difference at once; the keyboard has the button.
const handles = document.querySelector(".ctx-handles");
const moved = new Set();

handles.addEventListener("click", ({ target, detail }) => {
  if (target.type !== "radio" || detail === 0) return;
  moved.add(target.name);
  if (moved.size === 2) handles.requestSubmit();
});
