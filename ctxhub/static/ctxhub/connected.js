// Looks every two seconds whether a program has called, until one has. A page that nobody sees waits.
const EVERY = 2_000;
const place = document.getElementById("connected");
const isConnected = () => place.querySelector("[data-connected]") !== null;

async function look() {
  if (document.visibilityState === "visible") {
    try {
      const answer = await fetch(place.dataset.url, { credentials: "same-origin", redirect: "error" });
      if (answer.ok) {
        const told = await answer.text();
        if (told !== place.innerHTML) place.innerHTML = told;
      }
    } catch {
      // The hub restarts, or the person has signed out.
    }
  }
  if (!isConnected()) setTimeout(look, EVERY);
}

if (place && !isConnected()) setTimeout(look, EVERY);
