package io.fibry.codec;

import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;

/**
 * Makes values such that each type, each choice and each constant is in one of them. Used by one
 * thread.
 */
final class Sampler {
  private final Map<Shape, Integer> turns = new HashMap<>();
  private final Set<Shape> unfinished = new HashSet<>();
  // Of a deep sample, because a type that contains itself twice doubles at each level
  private static final int MAX_BYTES = 1 << 16;

  private final Set<Shape> seen; // all that are in a sample
  private final Format format;
  private ItemWriter out;

  private Sampler(Format format, Set<Shape> seen) {
    this.format = format;
    this.seen = seen;
  }

  /** Values of a shape, by names that say what they are. */
  static Map<String, byte[]> samples(Shape root, Set<Shape> all, Format format) {
    var seen = new HashSet<Shape>();
    int levels = 1;
    while (!root.fitsDepth(levels) && levels < Format.MAX_DEPTH) levels++;
    levels += 2; // so that containers have elements
    var samples = new LinkedHashMap<String, byte[]>();
    int size = new Sampler(format, seen).add(root, levels, true, samples);
    while (!seen.containsAll(all) && ++levels <= Format.MAX_DEPTH && size < MAX_BYTES)
      size = new Sampler(format, seen).add(root, levels, false, samples); // those with types further inside
    return samples;
  }

  /**
   * Returns the size of the largest sample. Later ones are added only if they have a type more.
   */
  private int add(Shape root, int levels, boolean first, Map<String, byte[]> samples) {
    int largest = 0;
    do {
      int before = seen.size();
      out = format.newWriter();
      root.sample(this, levels);
      byte[] sample = out.written();
      largest = Math.max(largest, sample.length);
      if (!first && seen.size() == before) continue;
      String name = name(root, sample);
      int number = 1;
      while (samples.containsKey(name + "-" + number)) number++;
      samples.put(name + "-" + number, sample);
    } while (!unfinished.isEmpty());
    return largest;
  }

  /** Called by each record, enum and choice that a sample has. */
  void markSeen(Shape shape) {
    seen.add(shape);
  }

  private String name(Shape root, byte[] sample) {
    if (!(root instanceof ChoiceShape)) return root.text();
    var in = format.newReader(sample);
    in.beginMap();
    in.next();
    return in.text();
  }

  ItemWriter out() {
    return out;
  }

  /** Which of so many comes now: all of them, one after the other. */
  int nextChoice(Shape shape, int count) {
    int turn = turns.merge(shape, 1, Integer::sum) - 1;
    if (turn == 0 && count > 1) unfinished.add(shape);
    if (turn >= count - 1) unfinished.remove(shape);
    return turn % count;
  }
}
