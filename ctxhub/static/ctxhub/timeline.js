// Dragging over the lanes of a timeline fills in its fields "from" and "to", and shows that period.
const drawing = document.querySelector(".ctx-timeline");
const form = document.querySelector(".ctx-range");

// Where in the drawing a pointer is, and which part of the period lies before it.
function placeOf(event) {
  const [left, right] = [Number(drawing.dataset.left), Number(drawing.dataset.right)];
  const point = new DOMPoint(event.clientX, event.clientY).matrixTransform(drawing.getScreenCTM().inverse());
  const x = Math.min(Math.max(point.x, left), right);
  return { x, part: (x - left) / (right - left) };
}

// The fields are in the project's time zone: the times between them are found from theirs, not the browser's.
function fieldAt(part) {
  const [first, last] = ["from", "to"].map((name) => Date.parse(`${form.elements[name].defaultValue}Z`));
  return new Date(first + part * (last - first)).toISOString().slice(0, 16);
}

function watchDragging() {
  const chosen = drawing.querySelector(".ctx-chosen");
  let start = null;
  drawing.addEventListener("pointerdown", (event) => {
    if (event.button === 0 && !event.target.closest("a")) {
      event.preventDefault();
      start = placeOf(event);
      drawing.setPointerCapture(event.pointerId);
    }
  });
  drawing.addEventListener("pointermove", (event) => {
    if (start === null) return;
    const now = placeOf(event);
    chosen.removeAttribute("hidden");
    chosen.setAttribute("x", Math.min(start.x, now.x));
    chosen.setAttribute("width", Math.abs(start.x - now.x));
  });
  drawing.addEventListener("pointerup", (event) => {
    if (start === null) return;
    const [first, last] = [start, placeOf(event)].sort((a, b) => a.x - b.x);
    start = null;
    chosen.setAttribute("hidden", "");
    if (last.x - first.x > 8) {
      form.elements.from.value = fieldAt(first.part);
      form.elements.to.value = fieldAt(last.part);
      form.requestSubmit();
    }
  });
}

// What a mark says stands beside it while it is pointed at or focused, in place of the browser's slow tooltip.
// A message also shows the names of both ends.
function watchMarks() {
  const tip = document.querySelector(".ctx-tip");
  const names = drawing.querySelectorAll(".ctx-lane-name");
  const markOf = (event) => event.target.closest("a[aria-label]");
  for (const title of drawing.querySelectorAll("a[aria-label] title")) title.remove();

  function hide() {
    tip.hidden = true;
    for (const name of names) name.classList.remove("ctx-on");
  }
  function show(mark) {
    hide();
    tip.textContent = mark.ariaLabel;
    tip.hidden = false;
    for (const lane of mark.dataset.lanes?.split(" ") ?? []) names[lane].classList.add("ctx-on");
    const [box, at] = [tip.parentElement.getBoundingClientRect(), mark.getBoundingClientRect()];
    const [before, behind] = [at.left - box.left - tip.offsetWidth - 8, at.right - box.left + 8];
    const left = behind + tip.offsetWidth < box.width ? behind : Math.max(0, before);
    tip.style.left = `${tip.parentElement.scrollLeft + left}px`;
    tip.style.top = `${Math.min(at.top - box.top, tip.parentElement.clientHeight - tip.offsetHeight)}px`;
  }
  drawing.addEventListener("pointerover", (event) => (markOf(event) ? show(markOf(event)) : hide()));
  drawing.addEventListener("pointerleave", hide);
  drawing.addEventListener("focusin", (event) => (markOf(event) ? show(markOf(event)) : hide()));
  drawing.addEventListener("focusout", hide);
  document.addEventListener("keydown", (event) => event.key === "Escape" && hide());
}

if (drawing) {
  watchDragging();
  watchMarks();
}
