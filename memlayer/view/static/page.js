// What the pages can also do with a script: live figures, copying, keys, dragging. Every page works without it.
"use strict";
(() => {
  const $$ = (what, within = document) => [...within.querySelectorAll(what)];

  for (const form of $$("[data-submit-on-change]")) {
    form.querySelector("button").hidden = true;
    form.addEventListener("change", () => form.requestSubmit());
  }
  for (const button of $$("[data-copy]")) {
    button.hidden = false;
    button.addEventListener("click", async () => {
      await navigator.clipboard.writeText(button.dataset.copy);
      button.textContent = "Copied";
    });
  }

  // "/" goes to the words of this page; a task under the focus moves by its keys.
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.target.closest("input, textarea, select")) return;
    const words = document.querySelector("[data-search]");
    if (event.key === "/") {
      event.preventDefault();
      if (words) words.focus();
      else document.querySelector('nav a[href^="/search"]').click();
    }
    const task = event.target.closest(".task");
    const button = task && task.querySelector(`button[data-key="${CSS.escape(event.key)}"]`);
    if (button) button.form.requestSubmit(button);
  });

  let dragged = null;
  for (const task of $$(".task[data-task]")) {
    task.draggable = true;
    task.addEventListener("dragstart", (event) => {
      dragged = task;
      event.dataTransfer.setData("text/plain", task.dataset.task);
      event.dataTransfer.effectAllowed = "move";
    });
    task.addEventListener("dragend", () => { dragged = null; });
  }
  for (const lane of $$(".lane[data-how]")) {
    const button = () => dragged && dragged.querySelector(`button[data-how="${lane.dataset.how}"]`);
    lane.addEventListener("dragover", (event) => {
      if (!button()) return;
      event.preventDefault();
      lane.classList.add("over");
    });
    lane.addEventListener("dragleave", () => lane.classList.remove("over"));
    lane.addEventListener("drop", (event) => {
      const found = button();
      lane.classList.remove("over");
      if (!found) return;
      event.preventDefault();
      found.form.requestSubmit(found);
    });
  }

  // Live: counts change in place; new events are announced, and shown at the person's word.
  const sign = document.querySelector("[data-live]");
  let fresh = 0, wait = 1000;
  const told = (message) => {
    const data = message.data;
    if (message.channel === "status" && data) {
      for (const place of $$("[data-count]")) if (data[place.dataset.count] != null) place.textContent = data[place.dataset.count];
    } else if (message.channel === "events" && data && data.session_id) {
      const note = document.querySelector("[data-new]");
      const session = note && note.dataset.session;
      if (!note || (session && session !== data.session_id)) return;
      fresh += 1;
      note.hidden = false;
      note.replaceChildren();
      const link = document.createElement("a");
      link.href = location.href;
      link.textContent = fresh === 1 ? "1 new event: show it" : `${fresh} new events: show them`;
      const what = document.createElement("span");
      what.className = "why";
      what.textContent = ` ${data.kind}: ${data.text}`;
      note.append(link, what);
    }
  };
  const connect = () => {
    const socket = new WebSocket(`ws://${location.host}/ws`);
    socket.addEventListener("open", () => {
      wait = 1000;
      if (sign) sign.hidden = false;
      const project = document.body.dataset.project;
      const filters = project === "all" ? {} : { project };
      socket.send(JSON.stringify({ type: "subscribe", channels: ["events", "status"], filters }));
    });
    socket.addEventListener("message", (event) => told(JSON.parse(event.data)));
    socket.addEventListener("close", () => {
      if (sign) sign.hidden = true;
      wait = Math.min(wait * 2, 60000);
      if (wait < 60000) setTimeout(connect, wait);
    });
  };
  if (sign && "WebSocket" in window) connect();
})();
