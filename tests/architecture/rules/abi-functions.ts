// One ABI codec: product files encode and decode through src/lib/abi, not through viem's functions.
import ts from "typescript";
import { isCode, lineAt, type RepositoryRule, type Violation } from "../repository.ts";

// viem/ens has no such function, and is loaded by a call because its tables are large.
const VIEM = /^viem(\/(?!ens$)|$)/;
const ABI_FUNCTION =
  /^((en|de)code[A-Z]\w*|parseAbi\w*|parseEventLogs|getAbiItem|prepareEncodeFunctionData|(to|get)(Function|Event)(Selector|Hash|Signature))$/;

export const abiFunctions: RepositoryRule = (repository) =>
  repository.files
    .filter((file) => isCode(file) && file.startsWith("src/") && !file.startsWith("src/lib/abi/"))
    .filter((file) => !/\.(test|bench)\.ts$/.test(file))
    .filter((file) => repository.imports(file).some(({ specifier }) => VIEM.test(specifier)))
    .flatMap((file) => findInFile(file, repository.source(file)));

function findInFile(file: string, source: ts.SourceFile): Violation[] {
  const violations: Violation[] = [];
  const report = (node: ts.Node, what: string) => {
    const line = lineAt(source, node.getStart(source));
    violations.push({ file, line, message: `imports ${what} of viem; use the codec in src/lib/abi` });
  };
  const visit = (node: ts.Node): void => {
    if (isViemImport(node)) reportNames(node, report);
    else if (isViemImportCall(node)) report(node, "everything");
    ts.forEachChild(node, visit);
  };
  visit(source);
  return violations;
}

type ViemImport = ts.ImportDeclaration | ts.ExportDeclaration;

function isViemImport(node: ts.Node): node is ViemImport {
  if (!ts.isImportDeclaration(node) && !ts.isExportDeclaration(node)) return false;
  const from = node.moduleSpecifier;
  return from !== undefined && ts.isStringLiteral(from) && VIEM.test(from.text);
}

/** `import("viem")`: which of its names are used is not followed. */
function isViemImportCall(node: ts.Node): boolean {
  if (!ts.isCallExpression(node) || node.expression.kind !== ts.SyntaxKind.ImportKeyword) return false;
  const [from] = node.arguments;
  return from !== undefined && ts.isStringLiteral(from) && VIEM.test(from.text);
}

function reportNames(node: ViemImport, report: (node: ts.Node, what: string) => void): void {
  const names = ts.isImportDeclaration(node) ? node.importClause?.namedBindings : node.exportClause;
  if (names !== undefined && (ts.isNamedImports(names) || ts.isNamedExports(names))) {
    for (const element of names.elements) {
      const { text } = element.propertyName ?? element.name;
      if (ABI_FUNCTION.test(text)) report(element, text);
    }
    return;
  }
  // A namespace, a default import or `export *` brings the ABI functions along.
  const isTypeOnly = ts.isImportDeclaration(node) ? node.importClause?.isTypeOnly : node.isTypeOnly;
  if (isTypeOnly !== true) report(node, "everything");
}
