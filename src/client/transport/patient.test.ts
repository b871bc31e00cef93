import { describe, expect, it } from 'vitest';
import { patientTransport } from './patient.ts';
import type { ClientResponse } from './transport.ts';

const response = (status: number, headers: { [name: string]: string } = {}): ClientResponse => ({
  status,
  headers,
  body: (async function* () {})(),
});
const request = { method: 'GET', url: '/', headers: {} };

describe('a patient transport', () => {
  it('sends a request again after the pause that a busy server asks for', async () => {
    const answers = [response(429, { 'retry-after': '2' }), response(503, { 'retry-after': '1' }), response(200)];
    const pauses: number[] = [];
    const transport = patientTransport(async () => answers.shift() as ClientResponse, {
      wait: async (ms) => pauses.push(ms),
    });
    expect((await transport(request)).status).toBe(200);
    expect(pauses).toEqual([2000, 1000]);
  });

  it('ends its pause when the request is aborted', async () => {
    const stop = new AbortController();
    const transport = patientTransport(async () => {
      setImmediate(() => stop.abort());
      return response(429, { 'retry-after': '60' });
    });
    await expect(transport({ ...request, signal: stop.signal })).rejects.toMatchObject({ name: 'AbortError' });
  });

  it('gives up after ten attempts more, and does not repeat what the server does not ask to repeat', async () => {
    let sent = 0;
    const always = (answer: () => ClientResponse) => async () => {
      sent++;
      return answer();
    };
    const wait = async () => {};
    const busy = patientTransport(
      always(() => response(429, { 'retry-after': '1' })),
      { wait },
    );
    expect((await busy(request)).status).toBe(429);
    expect(sent).toBe(11);
    sent = 0;
    const failing = patientTransport(
      always(() => response(500)),
      { wait },
    );
    expect((await failing(request)).status).toBe(500);
    expect(sent).toBe(1);
  });

  it('reports each warning once', async () => {
    const header = '299 - "old \\"a\\" is deprecated", 299 - "b"';
    const warnings: string[] = [];
    const transport = patientTransport(async () => response(200, { warning: header }), {
      onWarning: (text) => warnings.push(text),
    });
    await transport(request);
    await transport(request);
    expect(warnings).toEqual(['old "a" is deprecated', 'b']);
  });
});
