// Checks the chosen file in the page and shows the result; asks nothing over the network.
import { Rejection } from "@sextant/client/verify/rejection";
import { verify } from "@sextant/client/verify/verify";
import { buildNode, findById } from "../../pay-page/browser/dom.ts";
import { renderVerification } from "../verification-view.ts";

const BYTES_MAX = 32 * 1024 * 1024;

const [file, blocks, key, deployment] = ["file", "blocks", "key", "deployment"].map(
  (id) => findById(id) as HTMLInputElement,
);
let latest = 0;

async function check(): Promise<void> {
  const chosen = file?.files?.[0];
  if (chosen === undefined) return;
  latest += 1;
  const turn = latest;
  const result = await checkFile(chosen).catch(describeProblem);
  // A later choice is already being checked.
  if (turn !== latest) return;
  const isText = typeof result === "string";
  findById("status").replaceChildren(...(isText ? [buildNode(result)] : []));
  const shown = isText ? [] : renderVerification(result).map((view) => buildNode(view));
  findById("result").replaceChildren(...shown);
}

async function checkFile(chosen: File) {
  if (chosen.size > BYTES_MAX) return "The file is larger than 32 MiB: it is not a response.";
  const blockHashes = (blocks?.value ?? "").split(/[\s,]+/).filter((hash) => hash !== "");
  return verify(new Uint8Array(await chosen.arrayBuffer()), {
    blockHashes,
    keys: readJson(key, "The key"),
    deployments: readJson(deployment, "The deployment"),
  });
}

/** A text as it is, or JSON. */
function readJson(field: HTMLInputElement | undefined, name: string): readonly unknown[] {
  const text = (field?.value ?? "").trim();
  if (text === "") return [];
  try {
    return [text.startsWith("{") ? JSON.parse(text) : text];
  } catch (cause) {
    throw new Rejection(`${name} is not JSON.`, { cause });
  }
}

function describeProblem(error: unknown): string {
  if (error instanceof Rejection) return error.message;
  if (error instanceof DOMException) return "The file cannot be read. Choose it again.";
  throw error;
}

findById("verify-form").addEventListener("submit", (event) => event.preventDefault());
for (const field of [file, blocks, key, deployment]) field?.addEventListener("change", () => void check());
// A reload keeps the chosen file.
void check();
