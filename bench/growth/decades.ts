// The sizes at which a growing thing is measured: its hundredth, its tenth, and the whole.

export function decadeBounds(events: number): readonly number[] {
  return [events / 100, events / 10, events].map(Math.ceil);
}
