/** A YAML text, to read or to edit. */
import { useEffect, useRef } from 'preact/hooks';
import { type Editor, type EditorOptions, openEditor } from './editor.ts';

/**
 * The editor is opened again when its mode, its label or the text that it is compared with changes. The text of an editable
 * one is what the user begins with: later texts are the user's own.
 */
export function YamlView(options: EditorOptions) {
  const place = useRef<HTMLDivElement>(null);
  const editor = useRef<Editor | undefined>(undefined);
  const latest = useRef(options);
  latest.current = options;
  const { editable, label, original, text, guide } = options;
  // The other options are passed on below.
  useEffect(() => {
    if (place.current === null) return;
    const opened = openEditor(place.current, {
      ...latest.current,
      onChange: (changed) => latest.current.onChange?.(changed),
      onField: (path) => latest.current.onField?.(path),
      ...(latest.current.check === undefined ? {} : { check: (typed) => latest.current.check?.(typed) ?? [] }),
    });
    editor.current = opened;
    return () => opened.close();
  }, [editable, label, original]);
  useEffect(() => {
    if (!editable) editor.current?.setText(text);
  }, [editable, text]);
  useEffect(() => editor.current?.setGuide(guide), [guide]);
  return <div class="editor" ref={place} data-testid="editor" />;
}
