// "/" leads to the search box. A list has a box of its own for "/", and whoever types, types.
function goToSearch(box) {
  box.focus();
  box.select();
}

document.addEventListener("keydown", (event) => {
  const box = document.querySelector("[data-find]");
  const isTyping = document.activeElement.closest("input, textarea, select, [contenteditable]");
  const isSlash = event.key === "/" && !isTyping && !document.getElementById("searchbar");
  if (box && isSlash) {
    event.preventDefault();
    goToSearch(box);
  }
});

// The theme hides a page until it is ready, and what is hidden takes no focus.
document.addEventListener("alpine:initialized", () => {
  const box = document.querySelector("[data-find][autofocus]");
  if (box) setTimeout(() => goToSearch(box));
});
