/** The visible part of many rows of the same height. */
import type { RefObject } from 'preact';
import { useEffect, useState } from 'preact/hooks';

/** The height of a row (CSS pixels), as in the style sheet. */
export const rowHeight = 28;
/** Rows above and below the visible part. */
const spare = 12;

export interface Window {
  readonly first: number;
  /** The row after the last one. */
  readonly end: number;
}

/** The rows of a scrolled element that have to be rendered. */
export function useWindow(scroller: RefObject<HTMLElement | null>, count: number): Window {
  const [view, setView] = useState<Window>({ first: 0, end: 0 });
  useEffect(() => {
    const element = scroller.current;
    if (element === null) return;
    const measure = () => {
      const { first, end } = windowOf(element);
      setView((before) => (before.first === first && before.end === end ? before : { first, end }));
    };
    const observer = new ResizeObserver(measure);
    observer.observe(element);
    element.addEventListener('scroll', measure, { passive: true });
    measure();
    return () => {
      observer.disconnect();
      element.removeEventListener('scroll', measure);
    };
  }, [scroller]);
  return { first: Math.min(view.first, count), end: Math.min(view.end, count) };
}

/** The visible rows of an element, in steps: scrolling within a step renders nothing. */
function windowOf({ scrollTop, clientHeight }: HTMLElement): Window {
  const visible = Math.floor(scrollTop / rowHeight / spare) * spare;
  return { first: Math.max(0, visible - spare), end: visible + Math.ceil(clientHeight / rowHeight) + 2 * spare };
}
