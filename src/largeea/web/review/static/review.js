// The review page. All data is shown with textContent; nothing is ever read as markup.

const PAGE = 12;
const LONG = 160;
const SIGNS = { same: "=", different: "≠", unsure: "?", none: "" };
const WORDS = { same: "Same", different: "Different", unsure: "Unsure", none: "Not yet reviewed" };
const MARKS = {
  equal: ["=", "equal"],
  similar: ["≈", "similar"],
  different: ["≠", "differs"],
  left: ["←", "only source"],
  right: ["→", "only target"],
};
const ORDER_NOTES = {
  sample: "Pairs drawn at random: from these the precision is estimated. Other filters do not apply.",
};

const $ = (id) => document.getElementById(id);
const dark = matchMedia("(prefers-color-scheme: dark)");
const state = {
  blind: true, busy: false, at: 0, total: 0, since: 0, detail: null,
  pages: new Map(), details: new Map(), query: new URLSearchParams(),
};

// Elements

function element(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name === "class") made.className = value;
    else made.setAttribute(name, value);
  }
  made.append(...children.filter((child) => child !== null && child !== ""));
  return made;
}

const count = (number) => number.toLocaleString("en");
const share = (number) => number.toFixed(3);
const percent = (number) => `${(100 * number).toFixed(1)} %`;

function say(text) {
  $("said").textContent = text;
}

// Requests

async function ask(path, body) {
  const options = body === undefined ? {} : {
    method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(body),
  };
  let answer;
  try {
    answer = await fetch(path, { ...options, credentials: "same-origin" });
  } catch {
    throw new Error("The server does not answer, and nothing was stored. Start `largeea review` again and open the address that it prints.");
  }
  if (answer.status === 403) throw new Error("This page is not valid any more. Open the address that `largeea review` has printed last.");
  if (!answer.ok) {
    const reason = await answer.json().catch(() => ({ error: `error ${answer.status}` }));
    throw new Error(reason.error);
  }
  return answer.json();
}

function show_problem(error) {
  $("problem").textContent = error.message;
  $("problem").hidden = false;
}

async function guarded(work) {
  if (state.busy) return;
  state.busy = true;
  try {
    await work();
    $("problem").hidden = true;
  } catch (error) {
    show_problem(error);
  } finally {
    state.busy = false;
  }
}

// The list

async function row_at(position) {
  const first = position - (position % PAGE);
  if (!state.pages.has(first)) {
    const query = new URLSearchParams(state.query);
    query.set("first", first);
    query.set("count", PAGE);
    const page = await ask(`/api/pairs?${query}`);
    state.total = page.total;
    state.pages.set(first, page.rows);
  }
  return state.pages.get(first)[position - first];
}

function remember_decision(pair, decision) {
  for (const rows of state.pages.values()) {
    for (const row of rows) if (row.pair === pair) row.decision = decision;
  }
  for (const path of state.details.keys()) if (path.startsWith(`/api/pairs/${pair}?`)) state.details.delete(path);
}

async function select() {
  const form = new FormData($("filters"));
  const query = new URLSearchParams();
  for (const [name, value] of form) if (value !== "") query.set(name, value);
  query.set("since", state.since);
  const start = await ask(`/api/start?${query}`);
  Object.assign(state, { query, total: start.total, pages: new Map(), details: new Map() });
  $("order-note").textContent = ORDER_NOTES[form.get("order")] ?? "";
  await go(start.first);
}

function draw_list() {
  const first = state.at - (state.at % PAGE);
  const rows = state.pages.get(first) ?? [];
  const last = first + rows.length;
  $("range").textContent = state.total ? `${count(first + 1)}–${count(last)} of ${count(state.total)}` : "";
  $("page-back").disabled = first === 0;
  $("page-on").disabled = last >= state.total;
  $("list").replaceChildren(...rows.map((row, place) => {
    const button = element("button", { type: "button" },
      element("span", { class: `sign ${row.decision}`, "aria-hidden": "true" }, SIGNS[row.decision]),
      element("span", { class: "name" }, row.names[0]),
      element("span", { class: "name quiet" }, row.names[1]),
      element("span", { class: "hidden" }, WORDS[row.decision]));
    if (first + place === state.at) button.setAttribute("aria-current", "true");
    button.addEventListener("click", () => guarded(() => go(first + place)));
    return element("li", {}, button);
  }));
}

// One pair

function detail_of(row) {
  const scores = !state.blind || row.decision !== "none";
  const path = `/api/pairs/${row.pair}?scores=${scores ? 1 : 0}`;
  if (!state.details.has(path)) {
    if (state.details.size > 30) state.details.clear();
    const asked = ask(path);
    asked.catch(() => state.details.delete(path));
    state.details.set(path, asked);
  }
  return state.details.get(path);
}

async function go(position) {
  if (!state.total) {
    state.detail = null;
    $("card").hidden = true;
    $("empty").hidden = false;
    $("position").textContent = "0 pairs";
    draw_state("none");
    draw_list();
    return;
  }
  const at = Math.min(Math.max(position, 0), state.total - 1);
  const row = await row_at(at);
  const detail = await detail_of(row);
  state.at = at;
  draw_pair(detail, `Pair ${count(at + 1)} of ${count(state.total)}`);
  draw_list();
  scrollTo(0, 0);
  if (at + 1 < state.total) row_at(at + 1).then(detail_of).catch(() => {});
}

function draw_pair(detail, position) {
  state.detail = detail;
  $("card").hidden = false;
  $("empty").hidden = true;
  $("position").textContent = position;
  document.title = `${detail.source.name} – ${detail.target.name}`;
  draw_state(detail.decision, detail.others);
  $("entities").replaceChildren(draw_entity("Source", detail.source), draw_entity("Target", detail.target));
  draw_fields(detail.fields);
  draw_neighbours(detail);
  draw_scores(detail.scores);
  draw_rivals(detail.rivals);
}

function draw_state(decision, others = {}) {
  const said = Object.entries(others).map(([author, kind]) => `${author}: ${WORDS[kind].toLowerCase()}`);
  $("state").textContent = [decision === "none" ? "" : `You: ${WORDS[decision].toLowerCase()}`, ...said].filter(Boolean).join(" · ");
  $("state").className = `state ${decision}`;
  for (const button of document.querySelectorAll("[data-decision]")) {
    button.setAttribute("aria-pressed", String(button.dataset.decision === decision));
  }
}

function with_language(value) {
  const long = value.text.length > LONG;
  const text = long
    ? element("details", {}, element("summary", {}, `${value.text.slice(0, LONG).trimEnd()}…`), value.text)
    : value.text;
  return [text, value.language ? element("span", { class: "lang" }, value.language) : null];
}

function agreement(value) {
  if (value.mark !== "equal" && value.mark !== "similar") return null;
  const [glyph, word] = MARKS[value.mark];
  return element("span", { class: `agrees ${value.mark}` }, `${glyph} ${word}`);
}

function draw_entity(side, entity) {
  const others = entity.names.filter((name) => name.text !== entity.name);
  const main = entity.names.find((name) => name.text === entity.name) ?? { text: entity.name, language: "" };
  return element("div", { class: "entity" },
    element("p", { class: "side-name" }, `${side}, ${entity.role}`),
    element("p", { class: "name", dir: "auto" }, ...with_language(main), agreement(main)),
    element("p", { class: "iri", title: entity.iri }, entity.curie),
    others.length ? element("p", { class: "names" }, "Also ",
      ...others.flatMap((name, place) => [place ? ", " : null, element("span", { dir: "auto" }, ...with_language(name), agreement(name))])) : null);
}

const last_part = (iri) => /[^#/:]+[#/:]?$/.exec(iri)?.[0] ?? iri;

function draw_values(predicate, values, paired) {
  if (!predicate) return element("div", {});
  return element("div", {},
    element("p", { class: "predicate", title: predicate }, last_part(predicate)),
    ...values.map((value) => element("p", { class: `value ${value.mark}`, dir: "auto" },
      ...with_language(value), paired && values.length > 1 ? agreement(value) : null)));
}

function draw_fields(fields) {
  if (!fields.length) {
    $("fields").replaceChildren(element("p", { class: "quiet" }, "Neither has values besides its names."));
    return;
  }
  $("fields").replaceChildren(...fields.map((field) => {
    const paired = field.source && field.target;
    const [glyph, word] = MARKS[paired ? field.mark : field.source ? "left" : "right"];
    return element("div", { class: `field ${field.mark}` },
      draw_values(field.source, field.source_values, paired),
      element("p", { class: "mark" }, element("span", { class: "glyph", "aria-hidden": "true" }, glyph), word),
      draw_values(field.target, field.target_values, paired));
  }));
}

function draw_neighbours(detail) {
  const found = detail.neighbours;
  const all = found.matched_count + found.source_count + found.target_count;
  const numbers = [[found.matched_count, "matched"], [found.source_count, "only of the source"], [found.target_count, "only of the target"]];
  const note = numbers.filter(([number]) => number).map(([number, what]) => `${count(number)} ${what}`).join(", ");
  $("neighbours-note").textContent = all ? note : "Neither has neighbours.";
  const named = (one) => `${one.name} (${one.relation})`;
  const spoken = [
    ...found.matched.map(([one, other]) => `${named(one)} is matched with ${named(other)}`),
    ...found.source.map((one) => `only of the source: ${named(one)}`),
    ...found.target.map((one) => `only of the target: ${named(one)}`),
  ];
  $("picture").hidden = true;
  $("picture").alt = spoken.join("; ");
  if (all) draw_picture(detail.pair);
}

function draw_picture(pair) {
  const width = Math.max($("picture").parentElement.clientWidth, 280);
  $("picture").onload = () => { $("picture").hidden = false; };
  $("picture").src = `/api/pairs/${pair}/neighbours.svg?width=${width}&theme=${dark.matches ? "dark" : "light"}`;
}

function draw_scores(scores) {
  if (!scores) {
    const hint = element("p", { class: "quiet" }, "Hidden until you have decided. ", element("kbd", {}, "b"), " shows them now.");
    $("scores").replaceChildren(hint);
    return;
  }
  const entries = [["status", scores.status], ["confidence", share(scores.confidence)],
    ...Object.entries(scores.evidence).map(([kind, value]) => [kind, share(value)])];
  $("scores").replaceChildren(element("dl", {},
    ...entries.map(([name, value]) => element("div", {}, element("dt", {}, name), element("dd", {}, value)))));
}

function draw_rivals(rivals) {
  if (!rivals.length) {
    $("rivals").replaceChildren(element("li", { class: "quiet" }, "There are no other candidates."));
    return;
  }
  $("rivals").replaceChildren(...rivals.map((rival, place) => {
    const button = element("button", { type: "button", class: rival.decision === "same" ? "chosen" : "" },
      element("kbd", {}, String(place + 1)),
      element("span", { class: "name", dir: "auto" }, rival.name),
      element("span", { class: "more", title: rival.iri }, rival.curie),
      element("span", { class: "more" }, [
        rival.decision === "same" ? "chosen" : "",
        rival.score === null ? "" : `score ${share(rival.score)}`,
        rival.paired_with ? `paired with ${rival.paired_with}` : "in no pair",
      ].filter(Boolean).join(" · ")));
    button.addEventListener("click", () => choose(place));
    return element("li", {}, button);
  }));
}

// Decisions

function decide(decision, instead = null) {
  const detail = state.detail;
  if (!detail) return;
  guarded(async () => {
    const body = { pair: detail.pair, decision: instead ? "same" : decision, source: detail.source.iri, target: detail.target.iri };
    if (instead) body.instead = instead.target;
    const stored = await ask("/api/decisions", body);
    const own = instead ? "different" : decision;
    remember_decision(detail.pair, own);
    draw_progress(stored.progress);
    draw_last(detail, own, instead, stored.scores);
    const at_end = state.at + 1 >= state.total;
    await go(at_end ? state.at : state.at + 1);
    const what = instead ? `${detail.source.name} is ${instead.name}` : `${WORDS[decision]}: ${detail.source.name}, ${detail.target.name}`;
    say(at_end ? `${what}. Stored. This was the last pair.` : `${what}. Stored. Next: ${state.detail.source.name}, ${state.detail.target.name}`);
  });
}

function choose(place) {
  const rival = state.detail?.rivals[place];
  if (rival) decide("different", rival);
  else say(`There is no candidate ${place + 1}.`);
}

function draw_last(detail, decision, instead, scores) {
  const chosen = instead ? instead.name : detail.target.name;
  $("last").replaceChildren(
    "Stored: ", element("strong", {}, `${detail.source.name} ${instead ? "=" : SIGNS[decision]} ${chosen}`),
    `. The run said ${share(scores.confidence)}, ${scores.status}${instead ? ` for ${detail.target.name}` : ""}. `,
    element("kbd", {}, "z"), " undoes it.");
  $("last").hidden = false;
}

function undo() {
  guarded(async () => {
    const undone = await ask("/api/undo", {});
    draw_progress(undone.progress);
    if (!undone.undone) {
      say("There is nothing to undo.");
      return;
    }
    state.details.clear();
    $("last").replaceChildren("Undone: ", element("strong", {}, undone.names.join(" and ")));
    $("last").hidden = false;
    await reload_pages();
    if (undone.pair !== null) await go_to_pair(undone.pair);
    say(`Undone: ${undone.names.join(" and ")}`);
  });
}

async function reload_pages() {
  const shown = [...state.pages.keys()].slice(-3);
  state.pages.clear();
  for (const first of shown) await row_at(first);
}

async function go_to_pair(pair) {
  for (const [first, rows] of state.pages) {
    const place = rows.findIndex((row) => row.pair === pair);
    if (place >= 0) return go(first + place);
  }
  draw_list();
  draw_pair(await detail_of({ pair, decision: "none" }), "A pair outside this list");
}

// Progress

function draw_progress(progress) {
  const verdicts = progress.verdicts;
  const all = verdicts.same + verdicts.different + verdicts.unsure + verdicts.conflict;
  const parts = [`${count(verdicts.same)} same`, `${count(verdicts.different)} different`, `${count(verdicts.unsure)} unsure`];
  if (verdicts.conflict) parts.push(`${count(verdicts.conflict)} disputed between reviewers`);
  const found = progress.estimate;
  const precision = found.precision === null ? "" : `. Precision ${percent(found.precision)} (${percent(found.low)} to ${percent(found.high)})`;
  $("progress").textContent = all ? `${count(all)} reviewed: ${parts.join(", ")}${precision}` : "Nothing reviewed yet";
  $("undo").disabled = !progress.can_undo;
  $("estimate").textContent = found.precision === null
    ? "No estimate yet. Choose the order “Random sample of accepted”: pairs that were picked for their doubt would give a biased figure."
    : `${percent(found.precision)}, with 95 % confidence between ${percent(found.low)} and ${percent(found.high)}. `
      + `From the first ${count(found.judged)} of ${count(found.population)} in random order`
      + (found.undecided ? `, ${count(found.undecided)} undecided left out.` : ".");
}

// Keys and buttons

const KEYS = {
  y: () => decide("same"),
  n: () => decide("different"),
  u: () => decide("unsure"),
  z: undo,
  b: toggle_blind,
  j: () => guarded(() => go(state.at + 1)),
  k: () => guarded(() => go(state.at - 1)),
  ArrowRight: () => guarded(() => go(state.at + 1)),
  ArrowLeft: () => guarded(() => go(state.at - 1)),
  "/": () => $("filters").elements.text.focus(),
  "?": () => $("help").showModal(),
};

function toggle_blind() {
  guarded(async () => {
    state.blind = !state.blind;
    $("blind").setAttribute("aria-pressed", String(state.blind));
    if (state.detail) await go(state.at);
    say(state.blind ? "Blind: scores are hidden until you decide." : "Scores are shown.");
  });
}

addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing || $("help").open) return;
  const field = event.target instanceof Element && event.target.closest("input, select, textarea");
  if (field) {
    const leaves = event.key === "Escape" || (event.key === "Enter" && field.matches("[type=search], [type=number]"));
    if (leaves) $("pair").focus();
    return;
  }
  const key = event.key.length === 1 ? event.key.toLowerCase() : event.key;
  const work = KEYS[key] ?? (/^[1-9]$/.test(key) ? () => choose(Number(key) - 1) : null);
  if (!work) return;
  event.preventDefault();
  if (!event.repeat || event.key.startsWith("Arrow")) work();
});

for (const button of document.querySelectorAll("[data-decision]")) {
  button.addEventListener("click", () => decide(button.dataset.decision));
}
$("undo").addEventListener("click", undo);
$("next").addEventListener("click", KEYS.j);
$("previous").addEventListener("click", KEYS.k);
$("blind").addEventListener("click", toggle_blind);
$("help-open").addEventListener("click", KEYS["?"]);
$("page-back").addEventListener("click", () => guarded(() => go(state.at - (state.at % PAGE) - PAGE)));
$("page-on").addEventListener("click", () => guarded(() => go(state.at - (state.at % PAGE) + PAGE)));
$("filters").addEventListener("change", apply_filters);
dark.addEventListener("change", () => state.detail && draw_picture(state.detail.pair));

function apply_filters() {
  guarded(async () => {
    const progress = await ask("/api/progress");
    state.since = progress.decisions;
    draw_progress(progress);
    await select();
    say(state.total === 1 ? "1 pair" : `${count(state.total)} pairs`);
  });
}

// Start

guarded(async () => {
  history.replaceState(null, "", "/");
  const overview = await ask("/api/overview");
  $("run").textContent = overview.run;
  $("author").textContent = `reviewed by ${overview.author}`;
  for (const [name, values] of [["role", overview.roles], ["evidence", overview.evidence]]) {
    $("filters").elements[name].append(...values.map((value) => element("option", { value }, value)));
  }
  state.since = overview.progress.decisions;
  draw_progress(overview.progress);
  await select();
});
