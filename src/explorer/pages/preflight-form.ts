// The form for a planned transaction of an account: plain GET, with the sentence of the API at the field it is about.
import { type Html, html } from "../../lib/html.ts";
import { type PageContext, pagePath } from "../context.ts";

/** The visitor's input, and the API's objections to it. */
type FormState = {
  readonly account: string;
  readonly problem?: string | null;
  /** Values to choose from. */
  readonly targets?: readonly string[];
  readonly sessionKeys?: readonly string[];
};

type Field = {
  readonly name: string;
  readonly label: string;
  readonly hint: string;
  readonly placeholder: string;
  readonly required?: boolean;
  readonly lengthMax: number;
};

// A server takes 16 kB of URL and headers; the rest of the form fits alongside this.
const DATA_LENGTH_MAX = 12_000;

const FIELDS: readonly Field[] = [
  {
    name: "target",
    label: "Target",
    hint: "The contract or address that is called.",
    placeholder: "0x… address",
    required: true,
    lengthMax: 60,
  },
  {
    name: "value",
    label: "Value in wei",
    hint: "Native coin sent along; empty is 0.",
    placeholder: "0",
    lengthMax: 90,
  },
  {
    name: "data",
    label: "Call data",
    hint: "In hex; empty for a plain transfer. Longer data than fits here goes to POST /preflight.",
    placeholder: "0x",
    lengthMax: DATA_LENGTH_MAX,
  },
  {
    name: "session_key",
    label: "Session key",
    hint: "The key that would sign; empty if the account itself sends.",
    placeholder: "0x… address",
    lengthMax: 60,
  },
];

export const PREFLIGHT_KEYS: readonly string[] = FIELDS.map(({ name }) => name);

export function preflightForm(page: PageContext, state: FormState): Html {
  const action = pagePath(page, `/accounts/${encodeURIComponent(state.account)}/preflight`);
  const lists = { target: state.targets ?? [], session_key: state.sessionKeys ?? [] };
  const about = fieldOf(state.problem ?? null);
  return html`<form class="entry" method="get" action="${action}" aria-label="Planned transaction">
${about === null && typeof state.problem === "string" && html`<p class="notice warn" role="alert">${toSentence(state.problem)}</p>`}
${FIELDS.map((field) => fieldRow(field, page, field.name === about ? (state.problem ?? null) : null, lists))}
${page.block !== null && html`<input type="hidden" name="block" value="${page.block}">`}
<div class="actions"><button>Check</button><span class="soft">Nothing is sent to the chain.</span></div>
</form>`;
}

function fieldRow(
  { name, label, hint, placeholder, required, lengthMax }: Field,
  { query }: PageContext,
  problem: string | null,
  lists: Readonly<Record<string, readonly string[]>>,
): Html {
  const id = `preflight-${name.replace("_", "-")}`;
  const choices = lists[name] ?? [];
  const described = problem === null ? `${id}-hint` : `${id}-problem ${id}-hint`;
  return html`<div class="entry-field${problem === null ? "" : " wrong"}"><label for="${id}">${label}</label>
<input id="${id}" name="${name}" value="${query[name] ?? ""}" placeholder="${placeholder}" maxlength="${lengthMax}" aria-describedby="${described}"${problem !== null && html` aria-invalid="true"`}${required === true && html` required`}${choices.length > 0 && html` list="${id}-list"`} autocomplete="off" spellcheck="false" autocapitalize="off">
${choices.length > 0 && html`<datalist id="${id}-list">${choices.map((each) => html`<option value="${each}"></option>`)}</datalist>`}
${problem !== null && html`<p class="problem" id="${id}-problem">${toSentence(problem)}</p>`}
<p class="hint" id="${id}-hint">${hint}</p></div>`;
}

/** The API names the field with the first word of its sentence. */
function fieldOf(problem: string | null): string | null {
  const [word = ""] = (problem ?? "").split(" ", 1);
  return PREFLIGHT_KEYS.includes(word) ? word : null;
}

const toSentence = (text: string) => {
  const words = text.replace(/^session_key\b/, "session key");
  return words.charAt(0).toUpperCase() + words.slice(1);
};
