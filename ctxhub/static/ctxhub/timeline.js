// Dragging over the lanes of a timeline fills in its fields "from" and "to", and shows that period.
const drawing = document.querySelector(".ctx-timeline");
const form = document.querySelector(".ctx-range");

function secondsAt(event) {
  const { begin, end, left, right } = drawing.dataset;
  const point = new DOMPoint(event.clientX, event.clientY).matrixTransform(drawing.getScreenCTM().inverse());
  const part = Math.min(Math.max((point.x - left) / (right - left), 0), 1);
  return { x: Number(left) + part * (right - left), part, seconds: Number(begin) + part * (end - begin) };
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
      start = secondsAt(event);
      drawing.setPointerCapture(event.pointerId);
    }
  });
  drawing.addEventListener("pointermove", (event) => {
    if (start === null) return;
    const now = secondsAt(event);
    chosen.removeAttribute("hidden");
    chosen.setAttribute("x", Math.min(start.x, now.x));
    chosen.setAttribute("width", Math.abs(start.x - now.x));
  });
  drawing.addEventListener("pointerup", (event) => {
    if (start === null) return;
    const [first, last] = [start.part, secondsAt(event).part].sort((a, b) => a - b);
    start = null;
    chosen.setAttribute("hidden", "");
    if ((last - first) * (drawing.dataset.right - drawing.dataset.left) > 8) {
      const [from, to] = [fieldAt(first), fieldAt(last)];
      form.elements.from.value = from;
      form.elements.to.value = to;
      form.requestSubmit();
    }
  });
}

if (drawing) watchDragging();
