// Writers: documents and reservations of metadata; what was acknowledged is there, at once here and soon elsewhere.
import { keccak256, stringToBytes } from "viem";
import type { ApiSession, ApiSessions } from "../clients/api-session.ts";
import type { E2eSystem } from "../system.ts";
import { sleepUntilStopped } from "../wait.ts";
import type { E2eActor } from "./intermittent-fault.ts";

/** An acknowledged write: its path, and the text that a read must contain. */
export type AcknowledgedWrite = { readonly path: string; readonly holds: string };

type WriterContext = { readonly sessions: ApiSessions; readonly written: AcknowledgedWrite[] };

const WRITES_PER_CONNECTION = 30;
const BETWEEN_MS = 60;

export const createWriter =
  (name: string, writing: WriterContext): E2eActor =>
  async (system, stop) => {
    const random = system.random(name);
    const { apis } = system.services;
    let number = 0;
    while (!stop.aborted) {
      const slot = apis[Math.floor(random() * apis.length)];
      if (!slot?.running) {
        await sleepUntilStopped(BETWEEN_MS, stop);
        continue;
      }
      const session = writing.sessions.open(slot);
      for (let writes = 0; writes < WRITES_PER_CONNECTION && !session.lost && !stop.aborted; writes += 1) {
        number += 1;
        const label = `${name} ${number} of ${system.seed}`;
        const written = await (random() < 0.5 ? publish(session, label) : reserve(session, label, random));
        if (written !== null) await acknowledged(system, session, written, writing.written);
        await sleepUntilStopped(random() * 2 * BETWEEN_MS, stop);
      }
      session.close();
    }
  };

/** The path and text of a write, or the rejecting response; null when the outcome is unknown. */
type Outcome = AcknowledgedWrite | { readonly rejected: string };

async function publish(session: ApiSession, label: string): Promise<Outcome | null> {
  const text = JSON.stringify({ services: [], label });
  const reply = await session.request("documents written", "/catalogs", {
    method: "POST",
    body: JSON.stringify({ catalog_json: text }),
  });
  if (reply === null) return null;
  if (reply.status !== 201) return { rejected: reply.text };
  return { path: `/catalogs/${keccak256(stringToBytes(text))}`, holds: text };
}

async function reserve(session: ApiSession, label: string, random: () => number): Promise<Outcome | null> {
  const intent_hash = keccak256(stringToBytes(label));
  const owner = `0x${intent_hash.slice(26)}`;
  const execution_data = `0x${Buffer.from(label).toString("hex")}${random() < 0.5 ? "00" : ""}`;
  const reply = await session.request("metadata written", "/intents/metadata", {
    method: "POST",
    body: JSON.stringify({ intent_hash, owner, execution_data }),
  });
  if (reply === null) return null;
  if (reply.status >= 300) return { rejected: reply.text };
  return { path: `/intents/metadata/${intent_hash}?owner=${owner}`, holds: `"${execution_data}"` };
}

async function acknowledged(
  { observations }: E2eSystem,
  session: ApiSession,
  outcome: Outcome,
  written: AcknowledgedWrite[],
): Promise<void> {
  if ("rejected" in outcome) {
    observations.recordViolation(`a write was rejected: ${outcome.rejected}`);
    return;
  }
  written.push(outcome);
  const reply = await session.request("writes read", outcome.path);
  if (reply !== null && (reply.status !== 200 || !reply.text.includes(outcome.holds))) {
    observations.recordViolation(
      `${outcome.path} was acknowledged and is not there: ${reply.status} ${reply.text}`,
    );
  }
}
