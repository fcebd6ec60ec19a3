// The forms: shows the request as you type, sends it, and shows what comes back within limits.
import { indentJson } from "../json-text.ts";
import { buildTarget, formatClientCall, formatCurl, type SampleRequest } from "../request-samples.ts";

// More would make the page slow; the curl command gets everything.
const SHOWN_CHARACTERS_MAX = 200_000;
const READ_BYTES_MAX = 1_000_000;
// Longer than the service itself lets a request take.
const WAIT_MS_MAX = 60_000;

/** The URL of the service: this page without its last segment. */
const origin = location.origin + location.pathname.replace(/\/[^/]*$/, "");

function readRequest(form: HTMLFormElement): SampleRequest {
  const { method = "GET", path = "" } = form.dataset;
  const fields = form.querySelectorAll("[data-in]") as NodeListOf<HTMLInputElement>;
  const parameters = [...fields].flatMap(({ value, dataset: { name = "", in: place = "", type = "" } }) =>
    value === "" ? [] : [{ name, value, in: place, type }],
  );
  return { method, path, parameters, body: form.querySelector("textarea")?.value ?? null };
}

export function updateSamples(form: HTMLFormElement) {
  const request = readRequest(form);
  const curl = form.querySelector("[data-sample=curl]");
  const client = form.querySelector("[data-sample=client]");
  if (curl) curl.textContent = formatCurl({ origin }, request);
  if (client && form.dataset.call) {
    client.textContent = formatClientCall({ origin }, JSON.parse(form.dataset.call), request);
  }
  const button = form.querySelector("button[data-paid]") as HTMLElement | null;
  const isPaid = request.parameters.some((each) => each.in === "header");
  if (button) button.textContent = (isPaid ? button.dataset.paid : button.dataset.unpaid) ?? "";
}

export async function sendRequest(form: HTMLFormElement) {
  const request = readRequest(form);
  const parts = responseParts(form);
  const started = performance.now();
  form.querySelector(".sample-response")?.remove();
  showResponse(parts, { status: "Waiting for the response …", tone: "", headers: [], text: "" });
  try {
    const response = await fetch(`.${buildTarget(request)}`, {
      method: request.method,
      headers: headersOf(request),
      body: request.body,
      signal: AbortSignal.timeout(WAIT_MS_MAX),
    });
    const { text, bytes, isCut } = await readLimited(response);
    const milliseconds = Math.round(performance.now() - started);
    const size = isCut ? `more than ${formatBytes(bytes)}` : formatBytes(bytes);
    const status = [`${response.status} ${response.statusText}`.trim(), `${milliseconds} ms`, size].join(
      " · ",
    );
    // 402 is not an error: it has the terms.
    const tone = response.ok ? "good" : response.status === 402 ? "" : "bad";
    showResponse(parts, { status, tone, headers: [...response.headers], text });
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    const status = `No response: ${reason} Is the service running?`;
    showResponse(parts, { status, tone: "bad", headers: [], text: "" });
  }
}

function headersOf({ parameters, body }: SampleRequest) {
  const given = parameters.filter((each) => each.in === "header");
  return {
    ...Object.fromEntries(given.map(({ name, value }) => [name, value])),
    ...(body === null ? {} : { "content-type": "application/json" }),
  };
}

/** Reads as far as the limit and lets the rest go. */
async function readLimited(response: Response) {
  const reader = response.body?.getReader();
  const decoder = new TextDecoder();
  let text = "";
  let bytes = 0;
  for (;;) {
    const { done, value } = (await reader?.read()) ?? { done: true };
    if (done || value === undefined) return { text: text + decoder.decode(), bytes, isCut: false };
    bytes += value.length;
    text += decoder.decode(value, { stream: true });
    if (bytes <= READ_BYTES_MAX) continue;
    await reader?.cancel();
    return { text, bytes, isCut: true };
  }
}

function formatBytes(bytes: number) {
  return bytes < 1_000 ? `${bytes} bytes` : `${(bytes / 1_000).toFixed(1)} kB`;
}

function responseParts(form: HTMLFormElement) {
  const find = (selector: string) => form.querySelector(selector) as HTMLElement;
  return {
    box: find(".response"),
    status: find(".response .status"),
    headers: find(".response .headers"),
    body: find(".response pre"),
  };
}

function showResponse(
  parts: ReturnType<typeof responseParts>,
  {
    status,
    tone,
    headers,
    text,
  }: { status: string; tone: "" | "good" | "bad"; headers: [string, string][]; text: string },
) {
  parts.box.hidden = false;
  parts.status.textContent = status;
  parts.status.className = `status ${tone}`;
  parts.headers.hidden = headers.length === 0;
  const list = parts.headers.querySelector("dl") as HTMLElement;
  list.replaceChildren(
    ...headers.flatMap(([name, value]) => [createElement("dt", name), createElement("dd", value)]),
  );
  parts.body.hidden = text === "";
  parts.body.replaceChildren(...renderBody(text));
}

function renderBody(text: string) {
  if (text.length > SHOWN_CHARACTERS_MAX) {
    const note = `\n\n… cut after ${SHOWN_CHARACTERS_MAX} characters; the curl command gets everything.`;
    return [text.slice(0, SHOWN_CHARACTERS_MAX), createElement("em", note)];
  }
  return indentJson(text).map((part) => (part.isKey ? createElement("b", part.text) : part.text));
}

/** Its text is set as text: a response may contain third-party text. */
function createElement(tag: string, text: string) {
  const element = document.createElement(tag);
  element.textContent = text;
  return element;
}
