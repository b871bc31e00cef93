/** Two YAML texts with their differences: side by side, or one below the other on narrow screens. */
import { MergeView } from '@codemirror/merge';
import { useEffect, useRef } from 'preact/hooks';
import { appearance, noGuide, reading } from './editor.ts';
import { YamlView } from './yaml-view.tsx';

export interface LabelledText {
  readonly label: string;
  readonly text: string;
}

export interface ComparisonProps {
  readonly before: LabelledText;
  readonly after: LabelledText;
}

export const Comparison = ({ before, after }: ComparisonProps) =>
  matchMedia('(max-width: 760px)').matches ? (
    <YamlView label={after.label} text={after.text} original={before.text} editable={false} guide={noGuide} />
  ) : (
    <SideBySide before={before} after={after} />
  );

function SideBySide({ before, after }: ComparisonProps) {
  const place = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const element = place.current;
    if (element === null) return;
    const root = element.shadowRoot ?? element.attachShadow({ mode: 'open' });
    const side = ({ label, text }: LabelledText) => ({ doc: text, extensions: [appearance, reading(label)] });
    const view = new MergeView({ a: side(before), b: side(after), parent: root, root, collapseUnchanged: {} });
    return () => view.destroy();
  }, [before.label, before.text, after.label, after.text]);
  return <div class="editor comparison" ref={place} data-testid="comparison" />;
}
