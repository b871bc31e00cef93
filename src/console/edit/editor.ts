/** The YAML editor: CodeMirror in a shadow root, so that its styles need no permission of the page's policy. */
import { autocompletion, type Completion, type CompletionContext } from '@codemirror/autocomplete';
import { defaultKeymap, history, historyKeymap, indentWithTab } from '@codemirror/commands';
import { yaml } from '@codemirror/lang-yaml';
import { HighlightStyle, indentUnit, syntaxHighlighting } from '@codemirror/language';
import { linter } from '@codemirror/lint';
import { unifiedMergeView } from '@codemirror/merge';
import { Compartment, EditorState, type Extension } from '@codemirror/state';
import {
  EditorView,
  GutterMarker,
  gutter,
  highlightActiveLine,
  hoverTooltip,
  keymap,
  lineNumbers,
} from '@codemirror/view';
import { tags } from '@lezer/highlight';
import { type FieldPath, pathsOfLines } from '../object/paths.ts';
import type { YamlProblem } from './validation.ts';

/** The descriptions and owners of the fields of the text in the editor. */
export interface FieldGuide {
  /** The owners of the field of a line. */
  readonly ownersOf: (path: FieldPath) => readonly string[];
  /** The description of a field. */
  readonly describe: (path: FieldPath) => string | undefined;
  /** The fields that an object may have. */
  readonly membersOf: (path: FieldPath) => readonly FieldHint[];
}

/** The guide of a text whose fields need no explanation. */
export const noGuide: FieldGuide = { ownersOf: () => [], describe: () => undefined, membersOf: () => [] };

export interface FieldHint {
  readonly name: string;
  readonly type: string;
  readonly description: string;
}

export interface EditorOptions {
  readonly label: string;
  readonly text: string;
  readonly editable: boolean;
  readonly guide: FieldGuide;
  /** Compares the text with an older one. */
  readonly original?: string;
  readonly onChange?: (text: string) => void;
  /** The cursor has moved to the line of a field. */
  readonly onField?: (path: FieldPath) => void;
  /** Returns the problems of a text. */
  readonly check?: (text: string) => readonly YamlProblem[];
}

export interface Editor {
  /** Replaces the text, unless it is the same. */
  setText(text: string): void;
  setGuide(guide: FieldGuide): void;
  text(): string;
  close(): void;
}

/** Shows an editor in an element, until it is closed. */
export function openEditor(place: HTMLElement, options: EditorOptions): Editor {
  const root = place.shadowRoot ?? place.attachShadow({ mode: 'open' });
  const guided = new Compartment();
  const view = new EditorView({
    root,
    parent: root,
    state: EditorState.create({
      doc: options.text,
      extensions: [appearance, ...modeOf(options), guided.of(guideOf(options.guide))],
    }),
  });
  return {
    text: () => view.state.doc.toString(),
    setText: (text) => {
      if (text === view.state.doc.toString()) return;
      view.dispatch({ changes: { from: 0, to: view.state.doc.length, insert: text } });
    },
    setGuide: (guide) => view.dispatch({ effects: guided.reconfigure(guideOf(guide)) }),
    close: () => view.destroy(),
  };
}

const look = EditorView.theme({
  '&': { height: '100%', fontSize: '13px', color: 'var(--text)', backgroundColor: 'var(--ground)' },
  '&.cm-focused': { outline: '2px solid var(--accent)', outlineOffset: '-2px' },
  '.cm-scroller': { fontFamily: 'var(--mono)', lineHeight: '20px' },
  '.cm-gutters': { backgroundColor: 'var(--panel)', color: 'var(--dim)', borderColor: 'var(--line)' },
  '.cm-activeLine': { backgroundColor: 'color-mix(in srgb, var(--selected) 50%, transparent)' },
  '.cm-cursor': { borderLeftColor: 'var(--text)' },
  '&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground': {
    backgroundColor: 'var(--selected)',
  },
  '.cm-tooltip': {
    maxWidth: '420px',
    padding: '4px 8px',
    color: 'var(--text)',
    backgroundColor: 'var(--panel)',
    border: '1px solid var(--line)',
    borderRadius: '4px',
    whiteSpace: 'pre-wrap',
  },
  '.cm-owners .cm-gutterElement': {
    maxWidth: '180px',
    padding: '0 8px',
    overflow: 'hidden',
    textOverflow: 'ellipsis',
    whiteSpace: 'nowrap',
  },
  // The marks of the library are images in data URLs, which the policy of the page forbids.
  '.cm-lintRange': { backgroundImage: 'none !important', textDecoration: 'underline wavy var(--bad)' },
  '.cm-changedLine': { backgroundColor: 'var(--added) !important' },
  '&.cm-merge-a .cm-changedLine': { backgroundColor: 'var(--removed) !important' },
  '.cm-deletedChunk': { backgroundColor: 'var(--removed) !important' },
  '.cm-changedText, .cm-deletedText': { background: 'none !important', fontWeight: '700' },
});

const colours = HighlightStyle.define([
  { tag: [tags.propertyName, tags.definition(tags.propertyName)], color: 'var(--link)' },
  { tag: [tags.comment], color: 'var(--dim)', fontStyle: 'italic' },
  { tag: [tags.string, tags.special(tags.string)], color: 'var(--good)' },
  { tag: [tags.keyword, tags.bool, tags.null, tags.number], color: 'var(--warn)' },
]);

/** How YAML looks in every editor. */
export const appearance: Extension = [
  look,
  syntaxHighlighting(colours),
  yaml(),
  lineNumbers(),
  highlightActiveLine(),
  indentUnit.of('  '),
];

/** A text to read, with the name that screen readers say. */
export const reading = (label: string): Extension => [
  EditorState.readOnly.of(true),
  keymap.of(defaultKeymap),
  EditorView.contentAttributes.of({ 'aria-label': label, 'aria-readonly': 'true', tabindex: '0' }),
];

function modeOf({ label, editable, original, onChange, onField, check }: EditorOptions): Extension[] {
  const listening = EditorView.updateListener.of((update) => {
    if (update.docChanged) onChange?.(update.state.doc.toString());
    if (update.docChanged || update.selectionSet) onField?.(pathAt(update.state, update.state.selection.main.head));
  });
  // Tab indents, as people expect of an editor; Escape and then Tab leaves it, and Ctrl+M lets Tab always leave it.
  const editing = [history(), keymap.of([indentWithTab, ...defaultKeymap, ...historyKeymap])];
  return [
    editable ? [EditorView.contentAttributes.of({ 'aria-label': label, tabindex: '0' }), editing] : reading(label),
    listening,
    ...(check === undefined ? [] : [linter((view) => [...check(view.state.doc.toString())])]),
    ...(original === undefined ? [] : [unifiedMergeView({ original, mergeControls: false, collapseUnchanged: {} })]),
  ];
}

/** The paths of the lines of a text, which are computed once for each text. */
const pathsOfText = new WeakMap<EditorState['doc'], readonly FieldPath[]>();

function pathAt(state: EditorState, position: number): FieldPath {
  let paths = pathsOfText.get(state.doc);
  if (paths === undefined) {
    paths = pathsOfLines(state.doc.toString().split('\n'));
    pathsOfText.set(state.doc, paths);
  }
  return paths[state.doc.lineAt(position).number - 1] ?? [];
}

class OwnerMarker extends GutterMarker {
  readonly text: string;

  constructor(text: string) {
    super();
    this.text = text;
  }

  override eq(other: OwnerMarker): boolean {
    return other.text === this.text;
  }

  override toDOM(): Node {
    return document.createTextNode(this.text);
  }
}

function guideOf({ ownersOf, describe, membersOf }: FieldGuide): Extension {
  const owners = gutter({
    class: 'cm-owners',
    side: 'after',
    lineMarker: (view, line) => {
      const text = ownersOf(pathAt(view.state, line.from)).join(', ');
      return text === '' ? null : new OwnerMarker(text);
    },
    lineMarkerChange: ({ docChanged }) => docChanged,
  });
  const descriptions = hoverTooltip((view, position) => {
    const text = describe(pathAt(view.state, position));
    if (text === undefined) return null;
    return { pos: view.state.doc.lineAt(position).from, above: true, create: () => ({ dom: textElement(text) }) };
  });
  const complete = (context: CompletionContext) => {
    const line = context.state.doc.lineAt(context.pos);
    const typed = /^(\s*(?:-\s+)*)([\w-]*)$/.exec(line.text.slice(0, context.pos - line.from));
    if (typed === null || (typed[2] === '' && !context.explicit)) return null;
    const options = membersOf(parentAt(context.state, line.number, typed[1] ?? '')).map(completionOf);
    return { from: context.pos - (typed[2]?.length ?? 0), options, validFor: /^[\w-]*$/ };
  };
  return [owners, descriptions, autocompletion({ override: [complete], icons: false })];
}

/** The object that a key at this indentation would belong to: the text with a key in place of the line says so. */
function parentAt(state: EditorState, line: number, indent: string): FieldPath {
  const lines = state.doc.toString().split('\n').slice(0, line);
  lines[line - 1] = `${indent}x:`;
  return (pathsOfLines(lines).at(-1) ?? []).slice(0, -1);
}

const completionOf = ({ name, type, description }: FieldHint): Completion => ({
  label: name,
  detail: type,
  apply: `${name}:${/^(?:\[|map|object)/.test(type) ? '' : ' '}`,
  info: () => textElement(description),
});

function textElement(text: string): HTMLElement {
  const element = document.createElement('div');
  element.textContent = text;
  return element;
}
