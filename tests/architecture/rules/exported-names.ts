// One exported name has one meaning: no two files of src declare and export the same one.
import ts from "typescript";
import { isCode, lineAt, type RepositoryRule } from "../repository.ts";

export const exportedNames: RepositoryRule = (repository) => {
  const declaredIn = new Map<string, string>();
  return repository.files
    .filter((file) => file.startsWith("src/") && isCode(file) && !/\.(test|bench)\.ts$/.test(file))
    .flatMap((file) => {
      const source = repository.source(file);
      return [...listDeclared(source)].flatMap(([name, position]) => {
        const first = declaredIn.get(name);
        declaredIn.set(name, first ?? file);
        const message = `exports ${name}, which ${first} exports with another meaning; rename one of them`;
        return first === undefined ? [] : [{ file, line: lineAt(source, position), message }];
      });
    });
};

/** The names that a file declares and exports, with their positions; those that it passes on are not its own. */
function listDeclared(source: ts.SourceFile): ReadonlyMap<string, number> {
  const found = new Map<string, number>();
  const add = (name: ts.Node | undefined): void => {
    if (!name) return;
    if (ts.isIdentifier(name)) found.set(name.text, name.getStart());
    else ts.forEachChild(name, (element) => add(ts.isBindingElement(element) ? element.name : undefined));
  };
  for (const statement of source.statements) {
    const isExported =
      ts.canHaveModifiers(statement) &&
      ts.getModifiers(statement)?.some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword);
    if (!isExported) continue;
    if (ts.isVariableStatement(statement))
      for (const { name } of statement.declarationList.declarations) add(name);
    else add((statement as ts.DeclarationStatement).name);
  }
  return found;
}
