// Functions fit a screen: none is longer than 70 lines.
import ts from "typescript";
import { isCode, lineAt, type RepositoryRule, type Violation } from "../repository.ts";

const LINES_MAX = 70;

export const functionLength: RepositoryRule = (repository) =>
  repository.files
    .filter((file) => isCode(file) || /\.m?js$/.test(file))
    .flatMap((file) => longFunctions(file, repository.source(file)));

function longFunctions(file: string, source: ts.SourceFile): readonly Violation[] {
  // Most files have too few lines to hold a long function.
  if (source.getLineStarts().length <= LINES_MAX) return [];
  const lineOf = (position: number) => lineAt(source, position);
  const found: Violation[] = [];
  /** Returns how many lines of the node belong to callbacks of describe and it, which list tests and do not count. */
  const visit = (node: ts.Node): number => {
    let listed = 0;
    ts.forEachChild(node, (child) => {
      listed += visit(child);
    });
    if (!ts.isFunctionLike(node) || !("body" in node) || !node.body) return listed;
    const line = lineOf(node.getStart(source));
    const lines = lineOf(node.end) - line + 1;
    if (isTestCallback(node)) return lines;
    if (lines - listed > LINES_MAX) {
      const message = `${nameOf(node)} has ${lines - listed} lines; split it (at most ${LINES_MAX})`;
      found.push({ file, line, message });
    }
    return listed;
  };
  visit(source);
  return found;
}

/** Whether the function is passed to describe, it or a variant of them, such as `it.each(cases)(name, callback)`. */
function isTestCallback({ parent }: ts.Node): boolean {
  if (!ts.isCallExpression(parent)) return false;
  return /^(describe|it)\b/.test(parent.expression.getText());
}

function nameOf(node: ts.SignatureDeclaration): string {
  const { name } = node.name ? node : (node.parent as { readonly name?: ts.Node });
  return name ? name.getText() : "a function";
}
