// Everything that was acknowledged to a writer is there, whichever process is asked.
import type { Written } from "../actors/writers.ts";
import { openConnection } from "../clients/connection.ts";
import type { Check } from "./check.ts";

export const writes = (written: readonly Written[]): Check => ({
  name: "acknowledged writes are there",
  async run({ services, observations }) {
    const connections = services.apis.map(({ url }) => openConnection(url));
    try {
      for (const [index, { path, holds }] of written.entries()) {
        const connection = connections[index % connections.length];
        const reply = await connection?.ask(path);
        if (reply?.status !== 200 || !reply.text.includes(holds)) {
          observations.wrong(`${path} was acknowledged and is gone: ${reply?.status} ${reply?.text}`);
        }
      }
    } finally {
      for (const connection of connections) connection.close();
    }
    return `${written.length} writes`;
  },
});
