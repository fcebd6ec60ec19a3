// The declaration of a tool: its names and texts, its routes, and its price.
import type { RouteDescription } from "../http/openapi/route-description.ts";

export type ToolDeclaration = {
  readonly name: string;
  readonly title: string;
  /** Says in the list of tools what it is for; what it returns is said by its routes, on demand. */
  readonly purpose: string;
  /** Texts in the list of tools about arguments whose names do not say enough. */
  readonly hints?: Readonly<Record<string, string>>;
  /** Such as `GET /intents/:id`. With several, the argument `kind` selects one by its key. */
  readonly routes: string | Readonly<Record<string, string>>;
  /** Other names of arguments, with those that the route has. */
  readonly aliases?: Readonly<Record<string, string>>;
  /** Sent unless the caller gives another value. */
  readonly defaults?: Readonly<Record<string, string>>;
  /** Whether the response is a text to be cut by characters, such as a published document. */
  readonly isText?: boolean;
  /** The price of a call, as a sentence and as terms; absent for a free tool. */
  readonly price?: ToolPrice;
};

export type ToolPrice = {
  /** In the list of tools. */
  readonly sentence: string;
  /** How it is paid, on demand. */
  readonly details: string;
  readonly terms: Readonly<Record<string, unknown>>;
  /** Whether a call without a payment returns the terms, rather than being paid by the server itself. */
  readonly isPaidByCaller: boolean;
};

/** The parts of a route that a tool uses. */
export type ToolRoute = Pick<
  RouteDescription,
  "method" | "path" | "operationId" | "description" | "parameters" | "body" | "responses"
>;

export type ToolArguments = Readonly<Record<string, unknown>>;
