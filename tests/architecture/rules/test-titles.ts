// A failed test's title alone says what broke: it is a statement with its subject, and unique under its describe.
import ts from "typescript";
import { isCode, lineAt, type RepositoryRule, type Violation } from "../repository.ts";

/** Words that continue the title of a describe instead of beginning a statement: prepositions, and verbs of a plural. */
const FRAGMENT = new RegExp(
  `^(?:(?:also|never|neither|no longer|still) )?(${[
    "of|that|with|without|to|by|from|for|where|when|while|but|and|or|before|after|on|at|as|in|over|below|because|which|whose",
    "are|were|have|do|can|could|may|must|might|should|will|would",
    "become|come|continue|count|fail|fill|get|give|go|hide|keep|leave|make|put|read|reject|return|say|show|stand|take",
  ].join("|")})\\b(?!-)`,
  "i",
);

export const testTitles: RepositoryRule = (repository) =>
  repository.files
    .filter((file) => isCode(file) && file.endsWith(".test.ts"))
    .flatMap((file) => findInFile(file, repository.source(file)));

function findInFile(file: string, source: ts.SourceFile): Violation[] {
  const found: Violation[] = [];
  const visit = (node: ts.Node, siblings: Set<string>): void => {
    const kind = ts.isCallExpression(node) ? kindOf(node.expression) : null;
    const title = kind === null ? null : titleOf(node as ts.CallExpression);
    if (kind === "test" && title !== null) {
      const line = lineAt(source, node.getStart(source));
      for (const message of problemsOf(title, siblings)) found.push({ file, line, message });
      siblings.add(title);
    }
    const inner = kind === "describe" ? new Set<string>() : siblings;
    ts.forEachChild(node, (child) => visit(child, inner));
  };
  visit(source, new Set());
  return found;
}

function problemsOf(title: string, siblings: ReadonlySet<string>): string[] {
  const [word] = FRAGMENT.exec(title) ?? [];
  return [
    ...(word === undefined
      ? []
      : [`has the title "${title}", which begins with "${word}"; write a statement with its subject`]),
    ...(siblings.has(title) ? [`has the title "${title}" a second time`] : []),
  ];
}

/** `it(…)`, `it.only(…)`, `it.each(cases)(…)`, ``it.each`table`(…)``; a list of cases alone has no title. */
function kindOf(called: ts.Expression): "describe" | "test" | null {
  let root = called;
  while (!ts.isIdentifier(root)) {
    if (ts.isPropertyAccessExpression(root) || ts.isCallExpression(root)) root = root.expression;
    else if (ts.isTaggedTemplateExpression(root)) root = root.tag;
    else return null;
  }
  if (root.text === "describe") return "describe";
  return root.text === "it" || root.text === "test" ? "test" : null;
}

/** Values in a template are left as they are written. */
function titleOf({ arguments: [title] }: ts.CallExpression): string | null {
  if (!title) return null;
  if (ts.isStringLiteralLike(title)) return title.text;
  return ts.isTemplateExpression(title) ? title.getText().slice(1, -1) : null;
}
