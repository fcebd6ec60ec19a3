// A receiver of webhooks as the documents describe one: verifies, removes duplicates by id, and undoes.
import type { IncomingMessage, ServerResponse } from "node:http";
import { Webhook as ReferenceWebhook } from "standardwebhooks";
import { readBody, startLoopbackServer } from "../support/http/loopback-server.ts";
import type { TestCertificate } from "../support/http/test-certificate.ts";

type ReceivedMessage = {
  readonly id: string;
  readonly type: string;
  readonly data: Readonly<Record<string, unknown>>;
  /** Milliseconds since the receiver started. */
  readonly atMs: number;
};

type ChallengeResponder = (challenge: string, response: ServerResponse) => void;
type Behaviour = (message: ReceivedMessage, response: ServerResponse) => void | Promise<void>;

export class Receiver {
  /** Every attempt, in order. */
  readonly attempts: ReceivedMessage[] = [];
  /** Ids of the events that it holds, after duplicates and undos. */
  readonly held: { readonly id: string; readonly block: number }[] = [];
  undoCount = 0;
  /** How often it was challenged. */
  challenges = 0;
  /** The problem of a message. */
  readonly problems: string[] = [];
  readonly #seen = new Set<string>();
  readonly #startMs = performance.now();
  #behave: Behaviour | null = null;
  #respondToChallenge: ChallengeResponder = (challenge, response) =>
    void response.end(JSON.stringify({ challenge }));
  #secret: (() => string) | null = null;
  #inFlight = 0;
  url = "";
  stop: () => Promise<void> = async () => undefined;

  static async start(certificate?: TestCertificate): Promise<Receiver> {
    const receiver = new Receiver();
    const server = await startLoopbackServer(
      (request, response) => void receiver.#receive(request, response),
      certificate,
    );
    receiver.url = `${server.url}/hook`;
    receiver.stop = server.stop;
    return receiver;
  }

  /** Checks every signature from now on. */
  expectSecret(secret: () => string): void {
    this.#secret = secret;
  }

  /** How it responds; null is 204 to everything. It holds what it has read, whatever it responds, unless it is null. */
  behave(behave: Behaviour | null): void {
    this.#behave = behave;
  }

  /** How it responds to a challenge; null is as the documents say. */
  onChallenge(respond: ChallengeResponder | null): void {
    this.#respondToChallenge =
      respond ?? ((challenge, response) => void response.end(JSON.stringify({ challenge })));
  }

  async #receive(request: IncomingMessage, response: ServerResponse): Promise<void> {
    this.#inFlight += 1;
    if (this.#inFlight > 1) this.problems.push("two messages at once");
    response.once("close", () => {
      this.#inFlight -= 1;
    });
    const body = (await readBody(request)).toString();
    const id = String(request.headers["webhook-id"]);
    const { type, data } = JSON.parse(body) as Pick<ReceivedMessage, "type" | "data">;
    if (type === "webhook.challenge") {
      this.challenges += 1;
      return this.#respondToChallenge(String(data.challenge), response);
    }
    this.#verify(body, request);
    const message = { id, type, data, atMs: performance.now() - this.#startMs };
    this.attempts.push(message);
    if (this.#behave !== null) return void (await this.#behave(message, response));
    this.hold(message);
    response.writeHead(204).end();
  }

  #verify(body: string, { headers }: IncomingMessage): void {
    if (this.#secret === null) return;
    try {
      new ReferenceWebhook(this.#secret()).verify(body, headers as Record<string, string>);
    } catch (error) {
      this.problems.push(String(error));
    }
  }

  /** Applies a message once. */
  hold({ id, type, data }: ReceivedMessage): void {
    if (this.#seen.has(id)) return;
    this.#seen.add(id);
    const block = Number(data.block_number);
    if (type === "chain.undo") {
      this.undoCount += 1;
      while ((this.held.at(-1)?.block ?? -1) > block) this.held.pop();
    } else if (type.startsWith("event.")) {
      if ((this.held.at(-1)?.block ?? -1) > block) this.problems.push(`${String(data.id)} is out of order`);
      this.held.push({ id: String(data.id), block });
    }
  }

  get ids(): readonly string[] {
    return this.held.map(({ id }) => id);
  }
}
