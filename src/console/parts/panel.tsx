/** A titled box. */
import type { ComponentChildren } from 'preact';

export interface PanelProps {
  readonly title: string;
  readonly children: ComponentChildren;
  /** Whether the content reaches the edges, as a table does. */
  readonly flush?: boolean;
}

export const Panel = ({ title, children, flush = false }: PanelProps) => (
  <section class="panel">
    <h2>{title}</h2>
    {flush ? children : <div class="inside">{children}</div>}
  </section>
);
