// Budgets of readers: `detail`, `min_usd` and `fields` cut a response after it was read; the price stays the same.
import { type Decimal, formatDecimal, parseDecimal } from "../../../lib/decimal.ts";
import { Fault } from "../../../lib/fault.ts";
import type { JsonSchema } from "../../../schema/json-schema.ts";
import {
  defineQuery,
  enumParameter,
  type ParameterKind,
  queryParameter,
  withDefault,
} from "../../../schema/parameter.ts";
import type { PaidQuery } from "../routes/paid-route.ts";
import { type FieldTree, formatFieldTree, parseFields, selectFields } from "./fields.ts";

/** One form of a response. */
type ResponseShape<Body> = { readonly schema: JsonSchema; cut(body: Body): unknown };

export type BudgetOptions<Body> = {
  /** Forms by the values of `detail`; `full` is the default, and the response as it is. */
  readonly shapes: Readonly<Record<string, ResponseShape<Body>>> & { readonly full: ResponseShape<Body> };
  /** The meaning of each value, for the description of `detail`. */
  readonly detail: string;
  /** Leaves out what is worth less; absent if the response has nothing to leave out. */
  readonly minUsd?: { readonly description: string; leaveOut(body: Body, minUsd: Decimal): Body };
};

// Far above any use: amounts have six decimals, and no wallet is worth 10^18 dollars.
const MIN_USD = /^(0|[1-9][0-9]{0,17})(\.[0-9]{1,18})?$/;
// More than all names of a response; only bounds the work of parsing.
const FIELDS_LENGTH_MAX = 1_000;
const FIELDS = /^[A-Za-z0-9]+(\.[A-Za-z0-9]+)*(,[A-Za-z0-9]+(\.[A-Za-z0-9]+)*)*$/;

/** The same query with the parameters of a budget; a payment is bound to them as to every other parameter. */
export function addBudget<Body>(query: PaidQuery<Body>, options: BudgetOptions<Body>): PaidQuery {
  const { minUsd: limit } = options;
  const { parameters, parse } = defineBudget(options);
  const offered = parameters.filter(({ name }) => limit !== undefined || name !== "min_usd");
  return {
    parameters: [...query.parameters, ...offered],
    parse: (values) => {
      const request = query.parse(values);
      const { shape, ...budget } = parse(values);
      const { minUsd, fields } = budget;
      return {
        ...request,
        query: { ...request.query, ...formatBudget(budget) },
        read: async (services, signal) => {
          const body = await request.read(services, signal);
          const kept = limit === undefined || minUsd === null ? body : limit.leaveOut(body, minUsd);
          const cut = shape.cut(kept);
          return fields === null ? cut : selectFields(cut, fields);
        },
      };
    },
  };
}

/** A response with `fields`: any part of the form that `detail` selects. */
export function describeSelection(title: string): JsonSchema {
  return {
    title,
    type: "object",
    minProperties: 1,
    description: "With `fields`: only those fields, of the form that `detail` selects.",
  };
}

type Budget = {
  readonly detail: string;
  readonly minUsd: Decimal | null;
  readonly fields: FieldTree | null;
};

/** One text for equal budgets. */
function formatBudget({ detail, minUsd, fields }: Budget): Readonly<Record<string, string>> {
  return {
    ...(detail === "full" ? {} : { detail }),
    ...(minUsd === null ? {} : { min_usd: formatDecimal(minUsd) }),
    ...(fields === null ? {} : { fields: formatFieldTree(fields) }),
  };
}

function defineBudget<Body>({ shapes, detail, minUsd }: BudgetOptions<Body>) {
  const names = Object.keys(shapes.full.schema.properties ?? {});
  const parameters = [
    queryParameter("detail", withDefault(enumParameter(Object.keys(shapes)), "full"), detail, "full"),
    queryParameter("min_usd", minUsdKind, minUsd?.description ?? "", "1"),
    queryParameter(
      "fields",
      fieldsKind,
      `Only these fields of the response, separated by commas; a dot leads into a record or into each entry of a list, such as \`${findListField(shapes.full.schema)}\`.`,
      names.slice(0, 3).join(","),
    ),
  ] as const;
  return defineQuery(parameters, ({ detail: form = "full", min_usd: least = null, fields = null }) => {
    const shape = shapes[form] ?? shapes.full;
    const tree = fields === null ? null : parseFields(fields, shape.schema);
    return { shape, detail: form, minUsd: least, fields: tree };
  });
}

/** A field of the records in the first list of a response. */
function findListField({ properties = {} }: JsonSchema): string {
  for (const [list, { items }] of Object.entries(properties as Readonly<Record<string, JsonSchema>>)) {
    const [field] = Object.keys(((items ?? {}) as JsonSchema).properties ?? {});
    if (field !== undefined) return `${list}.${field}`;
  }
  throw new TypeError("A response with a budget has a list of records.");
}

const minUsdKind: ParameterKind<Decimal> = {
  json: { type: "string", pattern: MIN_USD.source },
  parse: (text, name) => {
    if (!MIN_USD.test(text))
      throw new Fault("INPUT_INVALID", `${name} must be plain decimal text, such as 1.50.`);
    return parseDecimal(text, name);
  },
};

const fieldsKind: ParameterKind<readonly string[]> = {
  json: { type: "string", pattern: FIELDS.source, maxLength: FIELDS_LENGTH_MAX },
  parse: (text, name) => {
    if (text.length > FIELDS_LENGTH_MAX || !FIELDS.test(text)) {
      throw new Fault(
        "INPUT_INVALID",
        `${name} must be names separated by commas, in at most ${FIELDS_LENGTH_MAX} characters.`,
      );
    }
    return text.split(",");
  },
};
