/** The screen of a terminal, which fills an element. */
import { Terminal } from '@xterm/xterm';
import { adoptStyles } from './adopted-styles.ts';

/** The size of a terminal, in characters. */
export interface ScreenSize {
  readonly columns: number;
  readonly rows: number;
}

export interface Screen {
  size(): ScreenSize;
  /** Resolves once the data is on the screen. */
  write(data: Uint8Array): Promise<void>;
  /** Passes on what the user types, and each change of the size, until the returned function is called. */
  connect(handlers: ScreenHandlers): () => void;
  /** Removes the screen from the element. */
  close(): void;
}

export interface ScreenHandlers {
  readonly onInput: (text: string) => void;
  readonly onResize: (size: ScreenSize) => void;
}

/** Lines above the screen to which the user can scroll. */
const scrollback = 5_000;
/** The width of the scroll bar (CSS pixels). */
const scrollBarWidth = 14;

export function openScreen(place: HTMLElement): Screen {
  const removeStyles = adoptStyles();
  const terminal = new Terminal({
    fontFamily: getComputedStyle(place).getPropertyValue('--mono'),
    fontSize: 13,
    // Of text, as the contrast of the rest of the page.
    minimumContrastRatio: 4.5,
    screenReaderMode: true,
    scrollback,
  });
  // The keyboard has to get out of the screen: with Shift and Tab.
  terminal.attachCustomKeyEventHandler(({ key, shiftKey }) => !(key === 'Tab' && shiftKey));
  terminal.open(place);
  const fillPlace = () => {
    const { columns, rows } = fittingSize(place, terminal);
    terminal.resize(columns, rows);
  };
  fillPlace();
  const observer = new ResizeObserver(fillPlace);
  observer.observe(place);
  return {
    size: () => ({ columns: terminal.cols, rows: terminal.rows }),
    write: (data) => new Promise((resolve) => terminal.write(data, resolve)),
    connect: ({ onInput, onResize }) => {
      const listeners = [
        terminal.onData(onInput),
        terminal.onResize(({ cols: columns, rows }) => onResize({ columns, rows })),
      ];
      terminal.focus();
      return () => {
        for (const listener of listeners) listener.dispose();
      };
    },
    close: () => {
      observer.disconnect();
      terminal.dispose();
      removeStyles();
    },
  };
}

/** The most characters that an element has room for; the present size while nothing is rendered. */
function fittingSize(place: HTMLElement, { cols, rows }: Terminal): ScreenSize {
  const { clientWidth = 0, clientHeight = 0 } = place.querySelector('.xterm-screen') ?? {};
  if (clientWidth === 0 || clientHeight === 0) return { columns: cols, rows };
  return {
    columns: Math.max(2, Math.floor((place.clientWidth - scrollBarWidth) / (clientWidth / cols))),
    rows: Math.max(1, Math.floor(place.clientHeight / (clientHeight / rows))),
  };
}
