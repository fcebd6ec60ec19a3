// Hashes what a declaration really is: its own code and every declaration it uses, followed through the imports.
import { createHash } from "node:crypto";
import { posix } from "node:path";
import ts from "typescript";

export type ReadSource = (file: string) => string;

/** A module without comments and types: what its top level declares, imports and references. */
type Module = {
  readonly statements: readonly ts.Statement[];
  readonly source: ts.SourceFile;
  readonly declaring: ReadonlyMap<string, ts.Statement>;
  readonly imports: ReadonlyMap<string, { readonly specifier: string; readonly name: string }>;
};

export type DeclarationHash = {
  readonly hash: string;
  /** The files whose code counts. */
  readonly files: readonly string[];
};

/**
 * Hashes the declarations `names` of `file` together with everything they reach. Comments, formatting, types, unrelated
 * declarations and the paths of files do not count, nor do packages from npm. `ignoredProperties` of object literals are
 * left out with whatever only they use.
 */
export function hashDeclarations(
  roots: readonly { readonly file: string; readonly names: readonly string[] }[],
  read: ReadSource,
  ignoredProperties: readonly string[] = [],
): DeclarationHash {
  const slice = new Slice(read, new Set(ignoredProperties));
  for (const { file, names } of roots) for (const name of names) slice.include(file, name);
  const texts = slice.moduleTexts().sort();
  return { hash: createHash("sha256").update(JSON.stringify(texts)).digest("hex"), files: slice.files() };
}

class Slice {
  readonly #read: ReadSource;
  readonly #ignored: ReadonlySet<string>;
  readonly #tokenLists: WeakMap<ts.Statement, readonly string[]>;
  readonly #modules = new Map<string, Module>();
  readonly #included = new Map<string, Set<ts.Statement>>();

  constructor(read: ReadSource, ignored: ReadonlySet<string>) {
    this.#read = read;
    this.#ignored = ignored;
    const key = [...ignored].sort().join(" ");
    this.#tokenLists = tokenized.get(key) ?? new WeakMap();
    tokenized.set(key, this.#tokenLists);
  }

  /** Adds a name of a file's top level, and what it uses. */
  include(file: string, name: string): void {
    const module = this.#module(file);
    const statement = module.declaring.get(name);
    if (statement) {
      this.#includeStatement(file, module, statement);
      return;
    }
    const imported = module.imports.get(name);
    if (!imported) throw new Error(`${file} declares no ${name}`);
    const target = resolveImport(file, imported.specifier);
    if (target !== null) this.include(target, imported.name);
  }

  /** One text per module: the included statements in their order, token by token. */
  moduleTexts(): string[] {
    return [...this.#included].map(([file, included]) => {
      const { source, statements, imports } = this.#module(file);
      const tokens = statements
        .filter((statement) => included.has(statement))
        .flatMap((statement) => this.#tokensOf(statement, source))
        // Imports count by the name the other module exports, whatever they are called here.
        .map((token) => imports.get(token)?.name ?? token);
      return withoutTrailingCommas(tokens).join(" ");
    });
  }

  files(): string[] {
    return [...this.#included.keys()].sort();
  }

  #includeStatement(file: string, module: Module, statement: ts.Statement): void {
    const included = this.#included.get(file) ?? new Set();
    if (included.has(statement)) return;
    this.#included.set(file, included.add(statement));
    for (const token of new Set(this.#tokensOf(statement, module.source))) {
      if (module.declaring.has(token) || module.imports.has(token)) this.include(file, token);
    }
    // Code that runs at load may change anything that the module declares.
    for (const other of module.statements) {
      if (ts.isExpressionStatement(other)) this.#includeStatement(file, module, other);
    }
  }

  #tokensOf(statement: ts.Statement, source: ts.SourceFile): readonly string[] {
    const tokens = this.#tokenLists.get(statement) ?? [...this.#tokens(statement, source)];
    this.#tokenLists.set(statement, tokens);
    return tokens;
  }

  *#tokens(node: ts.Node, source: ts.SourceFile): Generator<string> {
    if (ts.isPropertyAssignment(node) && this.#ignored.has(node.name.getText(source))) return;
    const children = node.getChildren(source);
    if (children.length > 0) for (const child of children) yield* this.#tokens(child, source);
    else if (node.kind !== ts.SyntaxKind.ExportKeyword) yield node.getText(source);
  }

  #module(file: string): Module {
    const known = this.#modules.get(file);
    if (known) return known;
    const text = this.#read(file);
    const module = parsed.get(text) ?? parseModule(file, text);
    parsed.set(text, module);
    this.#modules.set(file, module);
    return module;
  }
}

/** Keyed by text: hashing again after an edit parses only the edited file. */
const parsed = new Map<string, Module>();
/** The tokens of parsed statements, by the properties that are left out. */
const tokenized = new Map<string, WeakMap<ts.Statement, readonly string[]>>();

function parseModule(file: string, text: string): Module {
  const { outputText } = ts.transpileModule(text, {
    compilerOptions: {
      target: ts.ScriptTarget.ESNext,
      module: ts.ModuleKind.ESNext,
      removeComments: true,
      verbatimModuleSyntax: true,
    },
  });
  const source = ts.createSourceFile(file, outputText, ts.ScriptTarget.ESNext, true, ts.ScriptKind.JS);
  const declaring = new Map<string, ts.Statement>();
  const imports = new Map<string, { specifier: string; name: string }>();
  for (const statement of source.statements) {
    if (ts.isImportDeclaration(statement)) {
      for (const [local, imported] of readImport(statement)) imports.set(local, imported);
    } else for (const name of declaredNames(statement)) declaring.set(name, statement);
  }
  return { statements: source.statements, source, declaring, imports };
}

function readImport(statement: ts.ImportDeclaration): [string, { specifier: string; name: string }][] {
  const { moduleSpecifier, importClause } = statement;
  const specifier = ts.isStringLiteral(moduleSpecifier) ? moduleSpecifier.text : "";
  const bindings = importClause?.namedBindings;
  if (bindings && ts.isNamedImports(bindings)) {
    return bindings.elements.map((each) => [
      each.name.text,
      { specifier, name: (each.propertyName ?? each.name).text },
    ]);
  }
  if (resolveImport("", specifier) !== null && importClause) {
    throw new Error(`${statement.getText()}: only named imports can be followed`);
  }
  const whole = importClause?.name ?? bindings?.name;
  return whole ? [[whole.text, { specifier, name: whole.text }]] : [];
}

function declaredNames(statement: ts.Statement): string[] {
  if (ts.isVariableStatement(statement)) {
    return statement.declarationList.declarations.flatMap(({ name }) => bindingNames(name));
  }
  if (ts.isFunctionDeclaration(statement) || ts.isClassDeclaration(statement)) {
    return statement.name ? [statement.name.text] : [];
  }
  return [];
}

function bindingNames(name: ts.BindingName): string[] {
  if (ts.isIdentifier(name)) return [name.text];
  return name.elements.flatMap((each) => (ts.isBindingElement(each) ? bindingNames(each.name) : []));
}

/** The file of a relative or workspace import; null for packages from npm and Node. */
function resolveImport(file: string, specifier: string): string | null {
  if (specifier.startsWith(".")) return posix.join(posix.dirname(file), specifier);
  const workspace = /^@sextant\/(.+)$/.exec(specifier)?.[1];
  if (!workspace) return null;
  return workspace.startsWith("contracts/") ? `${workspace}.ts` : `packages/${workspace}.ts`;
}

/** The formatter adds a comma if it breaks a list into lines. */
function withoutTrailingCommas(tokens: readonly string[]): string[] {
  return tokens.filter((token, index) => token !== "," || !/^[)\]}]$/.test(tokens[index + 1] ?? ""));
}
