// Sends the requests of `get --save`: it asks for signatures, and keeps the response that the file is to have.
import { type PaidExchange, toExchange } from "@sextant/client/payments/exchange";

type KeptResponse = {
  readonly url: string;
  readonly status: number;
  readonly headers: Headers;
  readonly chunks: readonly Uint8Array[];
};

export class SavedRead {
  readonly #send: typeof fetch;
  #last: KeptResponse | null = null;

  constructor(send: typeof fetch) {
    this.#send = send;
  }

  readonly fetch: typeof fetch = async (input, init) => {
    const url = String(input);
    // Paid responses are signed anyway, and a payment is for the URL that the client knows.
    const isPaid = new Headers(init?.headers).has("payment-signature");
    const sent = isPaid ? url : `${url}${url.includes("?") ? "&" : "?"}signed=1`;
    const response = await this.#send(sent, init);
    if (response.status !== 200 || response.body === null) return response;
    const chunks: Uint8Array[] = [];
    const { status, headers } = response;
    this.#last = { url: sent, status, headers, chunks };
    const keep = new TransformStream<Uint8Array, Uint8Array>({
      transform(chunk, controller) {
        chunks.push(chunk);
        controller.enqueue(chunk);
      },
    });
    return new Response(response.body.pipeThrough(keep), { status, headers });
  };

  /** The last response so far, once it was read. */
  get exchange(): PaidExchange {
    if (this.#last === null) throw new TypeError("nothing was read");
    const { url, status, headers, chunks } = this.#last;
    const text = Buffer.concat(chunks).toString();
    return toExchange({ method: "GET", url }, { status, headers, text });
  }
}
