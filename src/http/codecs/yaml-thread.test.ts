import { afterEach, describe, expect, it } from 'vitest';
import { type ParsedBody, parseYaml } from '../../codec/index.ts';
import { type Clock, StatusError, type Turns, VirtualClock } from '../../meta/index.ts';
import { EveryStep } from '../../meta/testing/every-step.ts';
import { type YamlLimits, YamlThread } from './yaml-thread.ts';

/** A worker that answers each document with its text and the number of the thread, and never one that begins with "hang". */
const simpleWorker = new URL(
  `data:text/javascript,${encodeURIComponent(`
    import { parentPort, threadId } from 'node:worker_threads';
    parentPort.on('message', (bytes) => {
      const text = Buffer.from(bytes).toString();
      if (text.startsWith('hang')) for (;;) {}
      if (text.startsWith('fail')) throw new Error('a defect');
      if (text.startsWith('leave')) return parentPort.close();
      parentPort.postMessage({ json: JSON.stringify([text, threadId]), findings: [] });
    });
    parentPort.postMessage('ready');
  `)}`,
);

let thread: YamlThread;
afterEach(() => thread.close());
/** Its time stands still by default: on a busy machine, a thread may take long to start and to read. */
const useThread = (limits: Partial<YamlLimits> = {}, entry = simpleWorker, clock: Clock = new VirtualClock()) => {
  thread = new YamlThread({ clock, limits, entry });
};
/** With the parser itself. */
const useParser = (limits: Partial<YamlLimits> = {}) => {
  thread = new YamlThread({ clock: new VirtualClock(), limits });
};
/** On a busy machine, an answer that waited for its turn would be read after later ones. */
const openTurns: Turns = { over: false, next: () => Promise.resolve() };
const parse = (text: string, user = 'somebody'): Promise<ParsedBody> =>
  thread.parse(Buffer.from(text), user, openTurns);
const textOf = async (text: string, user?: string) => ((await parse(text, user)).value as [string, number])[0];
const threadOf = async (text: string) => ((await parse(text)).value as [string, number])[1];
const refusal = async (read: Promise<ParsedBody>): Promise<StatusError> => {
  const error = await read.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  if (error instanceof StatusError) return error;
  throw new Error('not refused', { cause: error });
};

describe('a YAML document', () => {
  it('is parsed as by parseYaml', async () => {
    useParser();
    const text = 'a: 12345678901234567890\n__proto__: {b: yes}\nc: [1.5, ~, "é\\n"]\nc: 2\n';
    expect(await parse(text)).toEqual(parseYaml(Buffer.from(text)));
    const { code, message } = await refusal(parse('a: ['));
    expect([code, message]).toEqual([
      400,
      'error converting YAML to JSON: yaml: line 1: did not find expected node content',
    ]);
  });

  it('with many members is read in the turns of its request', async () => {
    useParser();
    const turns = new EveryStep();
    const text = Array.from({ length: 20_000 }, (_, i) => `k${i}: v`).join('\n');
    expect(await thread.parse(Buffer.from(text), 'somebody', turns)).toEqual(parseYaml(Buffer.from(text)));
    expect(turns.count).toBeGreaterThan(10);
  });

  it('full of errors is parsed in 64 MB, because parsing ends at the first error', async () => {
    useParser({ heapMb: 64 });
    const { message } = await refusal(parse(`a: "${'\\q'.repeat(1_500_000)}"`));
    expect(message).toBe('error converting YAML to JSON: yaml: line 1: Invalid escape sequence \\q');
  });

  it('that takes too much memory is rejected, and the next one is parsed', async () => {
    useParser({ heapMb: 64 });
    const { code, message } = await refusal(parse(`a: |+\n  x\n${'\n'.repeat(3_000_000)}`));
    expect([code, message]).toEqual([
      400,
      'error converting YAML to JSON: yaml: document takes too much memory to read',
    ]);
    expect((await parse('a: 1')).value).toEqual({ a: 1 });
  });

  it('of the maximum depth is parsed, a deeper one is rejected', async () => {
    useParser();
    for (const [open, close] of [
      ['- ', ''],
      ['[', ']'],
    ] as const) {
      const text = (depth: number) => open.repeat(depth) + (open === '- ' ? 'a' : '') + close.repeat(depth);
      expect((await parse(text(512))).value).toEqual(parseYaml(Buffer.from(text(512))).value);
      expect((await refusal(parse(text(513)))).code).toBe(400);
    }
  });
});

describe('waiting documents', () => {
  it('are parsed in the order of arrival, those of users who have used the thread less before', async () => {
    let now = 0;
    useThread({}, simpleWorker, { now: () => 0, monotonic: () => now++, after: () => () => {} });
    const read: string[] = [];
    const note = async (text: string, user: string) => read.push(await textOf(text, user));
    const sent = ['a1', 'a2', 'a3', 'a4', 'a5'].map((text) => note(text, 'a'));
    await sent[0];
    await Promise.all([...sent, note('b1', 'b'), note('b2', 'b'), note('c1', 'c')]);
    // The second document of a is being parsed when those of b and c come.
    expect(read).toEqual(['a1', 'a2', 'b1', 'c1', 'a3', 'b2', 'a4', 'a5']);
  });

  it.each<[Partial<YamlLimits>, string]>([
    [{ waitingBytes: 40, leastBytes: 10 }, 'in number'],
    [{ waitingBytes: 12, leastBytes: 1 }, 'in size'],
  ])('above the limit %o (%s) are rejected, the newest of the user who holds most', async (limits) => {
    useThread(limits);
    const read = Promise.all([textOf('a1', 'a'), textOf('a22', 'a'), textOf('a333', 'a')]);
    const newest = refusal(parse('a44', 'a'));
    const others = Promise.all([textOf('b1', 'b')]);
    const { code, reason, details } = await newest;
    expect([code, reason, details?.retryAfterSeconds]).toEqual([429, 'TooManyRequests', 1]);
    expect([await read, await others]).toEqual([['a1', 'a22', 'a333'], ['b1']]);
  });

  it('are rejected when the server ends', async () => {
    useThread();
    const left = [refusal(parse('a')), refusal(parse('b'))];
    thread.close();
    expect((await Promise.all(left)).map(({ code }) => code)).toEqual([503, 503]);
  });
});

describe('the YAML thread', () => {
  /** A clock whose timers fire when a test calls `fire`, which waits until a timer of that duration is set. */
  const heldTimers = () => {
    const timers = new Map<number, () => void>();
    const awaited = new Map<number, () => void>();
    const clock: Clock = {
      now: () => 0,
      monotonic: () => 0,
      after: (ms, task) => {
        timers.set(ms, task);
        awaited.get(ms)?.();
        return () => {
          if (timers.get(ms) === task) timers.delete(ms);
        };
      },
    };
    const fire = async (ms: number) => {
      if (!timers.has(ms)) await new Promise<void>((resolve) => awaited.set(ms, resolve));
      const task = timers.get(ms);
      timers.delete(ms);
      task?.();
    };
    return { clock, fire };
  };

  it('is replaced when a document takes too long, and the other documents are parsed', async () => {
    const { clock, fire } = heldTimers();
    useThread({ baseMs: 100, msPerMib: 2 ** 20 }, simpleWorker, clock);
    const before = await threadOf('before');
    const slow = refusal(parse('hang'));
    const others = Promise.all([threadOf('after hang'), threadOf('after it')]);
    // A document of four bytes.
    await fire(104);
    const { code, message } = await slow;
    expect([code, message]).toEqual([400, 'error converting YAML to JSON: yaml: document takes too long to read']);
    const after = await others;
    expect(after[0]).toBe(after[1]);
    expect(after[0]).not.toBe(before);
  });

  it('ends when it is idle, and starts again', async () => {
    const { clock, fire } = heldTimers();
    useThread({ idleMs: 77 }, simpleWorker, clock);
    const first = await threadOf('a');
    expect(await threadOf('b')).toBe(first);
    await fire(77);
    expect(await threadOf('c')).not.toBe(first);
  });

  it.each(['fail', 'leave'])('that ends by itself (%s) fails only the document that it was parsing', async (text) => {
    useThread();
    const [failed, ...read] = await Promise.all([refusal(parse(text)), textOf('longer'), textOf('longest')]);
    expect([failed.code, failed.message, failed.cause]).toEqual([
      500,
      'Internal error occurred: YAML cannot be read',
      expect.any(Error),
    ]);
    expect(read).toEqual(['longer', 'longest']);
  });

  it('that does not start in time fails the waiting documents', async () => {
    const { clock, fire } = heldTimers();
    useThread({ startMs: 55 }, new URL('data:text/javascript,setInterval(() => {}, 1000)'), clock);
    const failures = [refusal(parse('a')), refusal(parse('b'))];
    await fire(55);
    await fire(55);
    expect((await Promise.all(failures)).map(({ code }) => code)).toEqual([500, 500]);
  });

  it('that cannot be started fails every document', async () => {
    useThread({}, new URL('./there-is-no-such-file.js', import.meta.url));
    const failures = await Promise.all([refusal(parse('a')), refusal(parse('b'))]);
    expect(failures.map(({ code }) => code)).toEqual([500, 500]);
  });
});
