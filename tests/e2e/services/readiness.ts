// What a process answers when asked whether it is ready, and waiting until it is.
import { openServiceConnection, type ServiceResponse } from "../clients/connection.ts";
import { waitUntil } from "../wait.ts";
import type { ManagedProcess } from "./managed-process.ts";

const READY_MS_MAX = 90_000;

export async function waitUntilReady(slot: ManagedProcess): Promise<void> {
  let said = "";
  await waitUntil(
    async () => {
      const { status, text } = await requestOnce(slot, "/ready");
      said = text;
      return status === 200;
    },
    { msMax: READY_MS_MAX, late: () => `${slot.name} is not ready: ${said}` },
  );
}

export async function requestOnce(slot: ManagedProcess, path: string): Promise<ServiceResponse> {
  const connection = openServiceConnection(slot.url);
  try {
    return await connection.request(path);
  } finally {
    connection.close();
  }
}
