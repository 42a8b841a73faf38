// On the page of a row, j and k lead to the next and the previous one of its list.
document.addEventListener("keydown", (event) => {
  const isTyping = document.activeElement?.closest("input, textarea, select, [contenteditable], dialog");
  if (isTyping || event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.key === "j" || event.key === "k") document.querySelector(`[data-step=${event.key}]`)?.click();
});
