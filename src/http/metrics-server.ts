// The port of /metrics: metrics say what a service does and whom it talks to, for the operator alone.
import { once } from "node:events";
import type { IncomingMessage, RequestListener } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { createNodeServer } from "./node-server.ts";

export type MetricsAddress = {
  readonly host: string;
  /** Null is the port of the service plus 100; "shared" is that port itself, as before there was one for metrics. */
  readonly port: number | "shared" | null;
};

/** A hundred services of one machine fit between their ports and those of their metrics. */
const PORT_OFFSET = 100;
const PORT_MAX = 65_535;

// Scrapers are few.
const CONNECTIONS_MAX = 32;

/** Null if the service's own port serves the metrics. A port that the system chose gets a chosen one alongside it. */
export function chooseMetricsPort({ port }: MetricsAddress, servicePort: number): number | null {
  if (port === "shared" || (port !== 0 && port === servicePort)) return null;
  if (port !== null || servicePort === 0) return port ?? 0;
  const above = servicePort + PORT_OFFSET;
  return above <= PORT_MAX ? above : servicePort - PORT_OFFSET;
}

/** Tells requests for metrics apart by the port that they came to. */
export class MetricsServer {
  readonly #sockets = new WeakSet<Socket>();
  #isOpen = false;
  close: () => Promise<void> = async () => undefined;

  /** Whether the request may see metrics. */
  isVisibleTo({ socket }: IncomingMessage): boolean {
    return !this.#isOpen || this.#sockets.has(socket);
  }

  /** Makes metrics visible only here from now on; returns the URL. Rejects as `listen` of Node does. */
  async open(
    address: { readonly host: string; readonly port: number },
    { requestMsMax, handle }: { readonly requestMsMax: number; readonly handle: RequestListener },
  ): Promise<string> {
    this.#isOpen = true;
    const server = createNodeServer(requestMsMax, (request, response) => {
      if (/^\/metrics(\?|$)/.test(request.url ?? "")) handle(request, response);
      else response.writeHead(404).end();
    });
    server.maxConnections = CONNECTIONS_MAX;
    server.on("connection", (socket: Socket) => this.#sockets.add(socket));
    server.listen(address.port, address.host);
    await once(server, "listening");
    this.close = async () => {
      const closed = once(server, "close");
      server.close();
      server.closeAllConnections();
      await closed;
    };
    const { family, address: host, port } = server.address() as AddressInfo;
    return `http://${family === "IPv6" ? `[${host}]` : host}:${port}/metrics`;
  }
}
