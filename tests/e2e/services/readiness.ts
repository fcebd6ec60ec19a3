// What a process answers when asked whether it is ready, and waiting until it is.
import { openConnection, type Reply } from "../clients/connection.ts";
import { until } from "../wait.ts";
import type { Slot } from "./managed-process.ts";

const READY_MS_MAX = 90_000;

export async function untilReady(slot: Slot): Promise<void> {
  let said = "";
  await until(
    async () => {
      const { status, text } = await askOnce(slot, "/ready");
      said = text;
      return status === 200;
    },
    { msMax: READY_MS_MAX, late: () => `${slot.name} is not ready: ${said}` },
  );
}

export async function askOnce(slot: Slot, path: string): Promise<Reply> {
  const connection = openConnection(slot.url);
  try {
    return await connection.ask(path);
  } finally {
    connection.close();
  }
}
