// Reads what a module exports, and which names of other modules it uses, in one walk over its syntax tree.
import ts from "typescript";

/** `names` is null if the whole module may be used: a namespace that is passed on, or an import() whose result is. */
type ModuleUse = {
  readonly specifier: string;
  readonly position: number;
  readonly names: readonly string[] | null;
};
type ModuleExport = {
  readonly name: string;
  readonly position: number;
  readonly isType: boolean;
  /** The name of this module that is exported under another name. */
  readonly alias?: string | undefined;
};
export type ModuleLinks = { readonly uses: readonly ModuleUse[]; readonly exports: readonly ModuleExport[] };

/** The tree must have parents. */
export function readModuleLinks(source: ts.SourceFile): ModuleLinks {
  const uses: ModuleUse[] = [];
  const namespaces: Namespace[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isImportDeclaration(node)) readImport(node, uses, namespaces);
    else if (ts.isExportDeclaration(node)) readReExport(node, uses);
    else if (ts.isCallExpression(node)) readImportCall(node, uses);
    else if (ts.isImportTypeNode(node)) readImportType(node, uses);
    else if (ts.isNewExpression(node)) readModuleUrl(node, uses);
    ts.forEachChild(node, visit);
  };
  visit(source);
  return {
    uses: [...uses, ...namespaces.map((namespace) => readNamespace(source, namespace))],
    exports: source.statements.flatMap(readExports),
  };
}

type Namespace = { readonly name: string; readonly specifier: string; readonly position: number };

function readImport(node: ts.ImportDeclaration, uses: ModuleUse[], namespaces: Namespace[]): void {
  if (!ts.isStringLiteral(node.moduleSpecifier)) return;
  const { text: specifier } = node.moduleSpecifier;
  const position = node.moduleSpecifier.getStart();
  const bindings = node.importClause?.namedBindings;
  const names = node.importClause?.name ? ["default"] : [];
  if (bindings && ts.isNamespaceImport(bindings)) {
    namespaces.push({ name: bindings.name.text, specifier, position });
    return;
  }
  for (const { propertyName, name } of bindings?.elements ?? []) names.push((propertyName ?? name).text);
  uses.push({ specifier, position, names });
}

function readReExport(node: ts.ExportDeclaration, uses: ModuleUse[]): void {
  if (!node.moduleSpecifier || !ts.isStringLiteral(node.moduleSpecifier)) return;
  const names =
    node.exportClause && ts.isNamedExports(node.exportClause)
      ? node.exportClause.elements.map(({ propertyName, name }) => (propertyName ?? name).text)
      : null;
  uses.push({ specifier: node.moduleSpecifier.text, position: node.moduleSpecifier.getStart(), names });
}

/** `import("x")` and `require("x")`. */
function readImportCall(node: ts.CallExpression, uses: ModuleUse[]): void {
  const isImport = node.expression.kind === ts.SyntaxKind.ImportKeyword;
  if (!isImport && !(ts.isIdentifier(node.expression) && node.expression.text === "require")) return;
  const [specifier] = node.arguments;
  if (!specifier || !ts.isStringLiteralLike(specifier)) return;
  uses.push({ specifier: specifier.text, position: specifier.getStart(), names: namesOfResult(node) });
}

/** `import("x").Name` in a type; `typeof import("x")` describes the module and takes nothing from it. */
function readImportType(node: ts.ImportTypeNode, uses: ModuleUse[]): void {
  if (!ts.isLiteralTypeNode(node.argument) || !ts.isStringLiteral(node.argument.literal)) return;
  const { literal } = node.argument;
  const names = node.qualifier ? [firstName(node.qualifier)] : [];
  uses.push({ specifier: literal.text, position: literal.getStart(), names });
}

/** `new URL("./x.ts", import.meta.url)` names a module that a process or a browser starts. */
function readModuleUrl({ expression, arguments: given }: ts.NewExpression, uses: ModuleUse[]): void {
  const [specifier, base] = given ?? [];
  if (expression.getText() !== "URL" || base?.getText() !== "import.meta.url") return;
  if (!specifier || !ts.isStringLiteral(specifier) || !specifier.text.endsWith(".ts")) return;
  uses.push({ specifier: specifier.text, position: specifier.getStart(), names: [] });
}

function firstName(name: ts.EntityName): string {
  return ts.isIdentifier(name) ? name.text : firstName(name.left);
}

/**
 * The names taken from the result of an import(): `(await import("x")).name` or `const { name } = await import("x")`.
 */
function namesOfResult(call: ts.CallExpression): readonly string[] | null {
  let node: ts.Node = call;
  while (ts.isAwaitExpression(node.parent) || ts.isParenthesizedExpression(node.parent)) node = node.parent;
  const { parent } = node;
  if (ts.isExpressionStatement(parent)) return [];
  if (ts.isPropertyAccessExpression(parent) && parent.name.text !== "then") return [parent.name.text];
  if (ts.isVariableDeclaration(parent) && ts.isObjectBindingPattern(parent.name))
    return boundNames(parent.name);
  return null;
}

function boundNames({ elements }: ts.ObjectBindingPattern): readonly string[] | null {
  if (elements.some(({ dotDotDotToken }) => dotDotDotToken)) return null;
  return elements.map(({ propertyName, name }) => (propertyName ?? name).getText());
}

/** `space.name` for an `import * as space`. Any other mention passes the namespace on, and with it every name. */
function readNamespace(source: ts.SourceFile, { name, specifier, position }: Namespace): ModuleUse {
  const names = new Set<string>();
  let isWhole = false;
  const visit = (node: ts.Node): void => {
    if (ts.isIdentifier(node) && node.text === name && !ts.isNamespaceImport(node.parent)) {
      const { parent } = node;
      if (ts.isPropertyAccessExpression(parent) && parent.expression === node) names.add(parent.name.text);
      else if (ts.isQualifiedName(parent) && parent.left === node) names.add(parent.right.text);
      else isWhole = true;
    }
    ts.forEachChild(node, visit);
  };
  visit(source);
  return { specifier, position, names: isWhole ? null : [...names] };
}

function readExports(statement: ts.Statement): ModuleExport[] {
  if (ts.isExportDeclaration(statement)) return readExportList(statement);
  if (ts.isExportAssignment(statement)) {
    return [{ name: "default", position: statement.getStart(), isType: false }];
  }
  if (!ts.canHaveModifiers(statement)) return [];
  const modifiers = ts.getModifiers(statement) ?? [];
  if (!modifiers.some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword)) return [];
  if (modifiers.some(({ kind }) => kind === ts.SyntaxKind.DefaultKeyword)) {
    return [{ name: "default", position: statement.getStart(), isType: false }];
  }
  if (ts.isVariableStatement(statement)) {
    return statement.declarationList.declarations.flatMap(({ name, initializer }) =>
      readDeclaredNames(name).map((each) => ({ ...each, alias: aliasOf(name, initializer) })),
    );
  }
  const { name } = statement as { readonly name?: ts.Node };
  if (!name || !ts.isIdentifier(name)) return [];
  const isType = ts.isTypeAliasDeclaration(statement) || ts.isInterfaceDeclaration(statement);
  return [{ name: name.text, position: name.getStart(), isType }];
}

/** `a` for `const b = a`. */
function aliasOf(name: ts.BindingName, initializer: ts.Expression | undefined): string | undefined {
  return ts.isIdentifier(name) && initializer && ts.isIdentifier(initializer) ? initializer.text : undefined;
}

function readDeclaredNames(name: ts.BindingName): ModuleExport[] {
  if (ts.isIdentifier(name)) return [{ name: name.text, position: name.getStart(), isType: false }];
  return name.elements.flatMap((element) =>
    ts.isOmittedExpression(element) ? [] : readDeclaredNames(element.name),
  );
}

function readExportList(statement: ts.ExportDeclaration): ModuleExport[] {
  const { exportClause, isTypeOnly, moduleSpecifier } = statement;
  if (!exportClause) return [];
  if (ts.isNamespaceExport(exportClause)) {
    return [{ name: exportClause.name.text, position: exportClause.name.getStart(), isType: isTypeOnly }];
  }
  return exportClause.elements.map((element) => ({
    name: element.name.text,
    position: element.name.getStart(),
    isType: isTypeOnly || element.isTypeOnly,
    alias: moduleSpecifier ? undefined : element.propertyName?.text,
  }));
}
