// Everything that was acknowledged to a writer is there, whichever process is asked.
import type { AcknowledgedWrite } from "../actors/writers.ts";
import { openServiceConnection } from "../clients/connection.ts";
import type { E2eCheck } from "./check.ts";

export const acknowledgedWritesCheck = (written: readonly AcknowledgedWrite[]): E2eCheck => ({
  name: "acknowledged writes are there",
  async run({ services, observations }) {
    const connections = services.apis.map(({ url }) => openServiceConnection(url));
    try {
      for (const [index, { path, holds }] of written.entries()) {
        const connection = connections[index % connections.length];
        const reply = await connection?.request(path);
        if (reply?.status !== 200 || !reply.text.includes(holds)) {
          observations.recordViolation(
            `${path} was acknowledged and is gone: ${reply?.status} ${reply?.text}`,
          );
        }
      }
    } finally {
      for (const connection of connections) connection.close();
    }
    return `${written.length} writes`;
  },
});
