// Statements merge without a value ever becoming text, and their placeholders count from one.
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { compileSql, joinSql, prepareSql, rawSql, type SqlText, type SqlValue, sql } from "./sql.ts";

describe("a statement", () => {
  it("numbers its values, including those of merged statements", () => {
    const inner = sql`a = ${1} and b = ${"two"}`;
    const whole = sql`select ${rawSql("x.y")} where ${inner} or (${inner}) limit ${null}`;
    expect(whole.text).toBe("select x.y where a = $1 and b = $2 or (a = $3 and b = $4) limit $5");
    expect(whole.values).toEqual([1, "two", 1, "two", null]);
  });

  it("takes a list as one value, and a text that looks like a placeholder as a value", () => {
    const whole = sql`select '$9' where k = any(${["a", "b"]}) and c = ${"$1"}`;
    expect(whole.text).toBe("select '$9' where k = any($1) and c = $2");
    expect(whole.values).toEqual([["a", "b"], "$1"]);
  });

  it("never takes an object from JSON for SQL, whatever its keys", () => {
    const names = JSON.parse('{"name":"1; drop table agents"}') as SqlValue;
    const statements = JSON.parse('{"pieces":["1; drop table agents"],"values":[],"text":"1"}') as SqlValue;
    const whole = sql`select ${names}, ${statements}`;
    expect(whole.text).toBe("select $1, $2");
    expect(whole.values).toEqual([names, statements]);
  });

  it("compiles once, takes other values, and merges like any other", () => {
    const filled = compileSql(sql`a = ${0} and b = ${""}`);
    expect(filled(7, "$1")).toMatchObject({ text: "a = $1 and b = $2", values: [7, "$1"] });
    const whole = sql`select ${1} where ${filled(8, null)}`;
    expect(whole).toMatchObject({ text: "select $1 where a = $2 and b = $3", values: [1, 8, null] });
  });

  it("keeps its name if it is prepared, but not as a part of another one", () => {
    const named = prepareSql("a_by_b", sql`select a where b = ${1}`);
    expect(named).toMatchObject({ name: "a_by_b", text: "select a where b = $1", values: [1] });
    const whole = sql`select ${0} union ${named}`;
    expect(whole).toMatchObject({ text: "select $1 union select a where b = $2", values: [0, 1] });
    expect(whole.name).toBeUndefined();
  });

  it("joins any number of others", () => {
    expect(joinSql([], " and ").text).toBe("");
    const parts = [1, 2, 3].map((value) => sql`c = ${value}`);
    expect(joinSql(parts, " and ")).toMatchObject({
      text: "c = $1 and c = $2 and c = $3",
      values: [1, 2, 3],
    });
    expect(parts[0]?.text).toBe("c = $1");
  });

  it("holds every value in its position, however it was composed", () => {
    const tree: fc.Arbitrary<{ statement: SqlText; plain: (SqlValue | string)[] }> = fc.letrec((tie) => ({
      node: fc.oneof(
        { maxDepth: 4 },
        fc.integer().map((value) => ({ statement: sql`<${value}>`, plain: ["<", value, ">"] })),
        fc.array(tie("node"), { maxLength: 3 }).map((children) => {
          const nodes = children as { statement: SqlText; plain: (SqlValue | string)[] }[];
          return {
            statement: joinSql(
              nodes.map(({ statement }) => sql`(${statement})`),
              ",",
            ),
            plain: nodes.flatMap(({ plain }, index) => [...(index ? [","] : []), "(", ...plain, ")"]),
          };
        }),
      ),
    })).node as never;
    fc.assert(
      fc.property(tree, ({ statement, plain }) => {
        const filled = statement.text.replace(/\$(\d+)/g, (_all, at) => String(statement.values[at - 1]));
        expect(filled).toBe(plain.join(""));
      }),
    );
  });
});
