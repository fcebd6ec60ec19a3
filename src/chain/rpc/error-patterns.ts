// How nodes and vendors word their failures: rows are tried from top to bottom, and the first that fits decides.
import type { RpcFailureKind } from "./errors.ts";

export type ErrorPattern = {
  readonly kind: RpcFailureKind;
  readonly text?: RegExp;
  readonly codes?: readonly number[];
  readonly statuses?: readonly number[];
  /** Only for this method, where the words alone would be too common. */
  readonly method?: string;
};

// Vendors use the same code for different things (-32005 is a rate limit here and a log limit there, -32602 a bad
// parameter or a wide range), so words are judged before codes, and codes before HTTP statuses.
export const ERROR_PATTERNS: readonly ErrorPattern[] = [
  // Contract execution ended the call. First, because a revert reason is free text and may contain any other phrase.
  { kind: "reverted", codes: [3] },
  { kind: "reverted", text: /^(?:vm exception|vm execution error|execution reverted|revert)/i },
  {
    kind: "reverted",
    text: /execution reverted|reverted with|out of gas|invalid opcode|stack (?:underflow|limit)|invalid jump|gas required exceeds|always failing transaction/i,
  },

  // The node lacks the block or its state. Before the range rows, which also speak of ranges and blocks.
  { kind: "missing", codes: [4444, -39001] },
  {
    kind: "missing",
    text: /header not found|header for hash not found|unknown block|block not found|(?:block|header) (?:with|for) .{0,80}(?:not found|unknown)|could not find block|cannot find block|blocks? specified in filter .{0,80}cannot be found|block ?hash cannot be found|invalid block tag .{0,80}latest block number|resource not found|missing trie node|beyond current head|after last accepted block|is not yet available|(?:block|finalized|safe) .{0,40}is not (?:available|known)|out of (?:block )?range\b.{0,20}block|invalid block number|unfinalized data|(?:state|history) .{0,40}(?:unavailable|not available|pruned)|pruned (?:history|state)|(?:with|due to) state pruning|no state available/i,
  },

  // The log query is too wide or its answer too long.
  {
    kind: "range-too-large",
    text: /response size (?:exceeded|limit)|response size should not|response (?:is )?too (?:large|big)|(?:query|logs?) (?:returned|matched|exceeds?) .{0,40}(?:more than|exceeds?|max|limit)|query returned more than|exceeds max (?:results|block range)|too many (?:logs|results)|too many blocks|max logs per response|returned more than \d+ (?:results|logs)/i,
  },
  {
    kind: "range-too-large",
    text: /range.{0,30}(?:too (?:large|wide|big)|exceed|greater than|bigger than|limit)|(?:exceed|limit|max(?:imum)?|reduc|ranges? over|up to).{0,60}(?:block|getlogs).{0,10} range|ranges over \d+ blocks|limited to .{0,30}range|blocks? (?:range|distance|limit).{0,40}(?:exceed|max|limit|large|wide)|blocks distance|(?:at most|more than|maximum|allowed).{0,40}\d+ blocks|number of requested blocks|narrow your (?:filter|query)/i,
    method: "eth_getLogs",
  },
  { kind: "range-too-large", codes: [-32614], method: "eth_getLogs" },

  {
    kind: "timeout",
    text: /quer(?:y|ies) .{0,20}(?:timeout|timed out|took too long)|request timed out|request timeout|execution (?:aborted|timeout)|deadline exceeded|took too long/i,
  },

  {
    kind: "rate-limited",
    text: /rate.?limit|too many requests|request limit|requests? per (?:second|minute|day)|request count exceeded|request rate exceeded|compute units|throughput|capacity (?:limit )?exceeded|limit exceeded|limit reached|quota|throttl|error code: 1015|exceeded .{0,40}(?:plan|capacity|calls)|slow down/i,
  },
  { kind: "rate-limited", statuses: [429] },
  { kind: "rate-limited", codes: [429, -32005, -32007, -32016, -32029, -32097] },

  {
    kind: "refused",
    text: /must be authenticated|unauthori[sz]ed|invalid (?:api.?key|project id|access token)|(?:api.?key|token|project) .{0,30}(?:not found|invalid|disabled|expired|inactive)|access denied|forbidden|payment required/i,
  },

  {
    kind: "unsupported",
    text: /method .{0,60}(?:not (?:found|supported|available|allowed|exist|whitelisted|enabled)|does not exist|unsupported|disabled)|unsupported method|unknown method|not (?:available|supported) (?:on|in|by) (?:your|this|the) |not whitelisted|archive .{0,60}(?:plan|tier|paid|require|not)/i,
  },
  { kind: "unsupported", codes: [-32601, -32004] },

  {
    kind: "transient",
    text: /no (?:available |healthy )?(?:backend|upstream|node)|no backend|temporar|unavailable|overload|too busy|try again|bad gateway|gateway time|connection (?:reset|refused|closed)|upstream|unexpected eof|backend (?:is )?offline|cannot fulfill request|still syncing|node is syncing/i,
  },
  { kind: "transient", codes: [-32002, -32011, -32020, -32050] },

  { kind: "response-too-large", statuses: [413] },
  { kind: "refused", statuses: [301, 302, 303, 307, 308, 401, 402, 403, 404, 405, 410, 451] },
  { kind: "timeout", statuses: [408, 504, 524] },
  { kind: "invalid-request", codes: [-32600, -32602, -32604, -32700] },
  {
    kind: "invalid-request",
    text: /invalid (?:argument|param|request|json|input)|missing (?:value|required|param)|exceed max (?:topics|addresses)|specify an address|must (?:be|have|specify)|parse error|cannot unmarshal/i,
  },
];
