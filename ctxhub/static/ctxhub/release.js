// A button opens the form to release a lease, filled in for its lease.
addEventListener("click", ({ target }) => {
  const button = target.closest("[popovertarget=release][data-url]");
  if (!button) return;
  const form = document.querySelector("#release form");
  form.action = button.dataset.url;
  form.elements.reason.value = "";
  for (const part of form.querySelectorAll("[data-shows]")) part.textContent = button.dataset[part.dataset.shows];
}, { capture: true });
