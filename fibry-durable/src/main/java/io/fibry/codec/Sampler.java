package io.fibry.codec;

import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;

/**
 * Writes sample values for {@link DerivedCodec#samples}, which tests store and later versions must
 * still read. Each type and each choice is in at least one sample. A choice is a constant of an
 * enum, for example, or a type of a sealed interface. Used by one thread.
 */
final class Sampler {
  private final Map<Shape, Integer> choicesUsed = new HashMap<>(); // number of calls of nextChoice, by shape
  private final Set<Shape> unfinished = new HashSet<>(); // shapes with a choice that no sample has yet
  // No deeper samples are made after a sample of this size, because samples of a type that contains
  // itself twice double their size at each level.
  private static final int MAX_BYTES = 1 << 16;

  private final Set<Shape> seen; // shapes of records, enums and sealed types that are in a sample
  private final Format format;
  private FormatWriter out;

  private Sampler(Format format, Set<Shape> seen) {
    this.format = format;
    this.seen = seen;
  }

  /** Returns samples of a shape as bytes, by the name of their type and a number. */
  static Map<String, byte[]> samples(Shape root, Set<Shape> requiredShapes, Format format) {
    var seen = new HashSet<Shape>();
    int levels = 1;
    while (!root.fitsDepth(levels) && levels < Format.MAX_DEPTH) levels++;
    levels += 2; // so that containers have elements
    var samples = new LinkedHashMap<String, byte[]>();
    int size = new Sampler(format, seen).add(root, levels, true, samples);
    while (!seen.containsAll(requiredShapes) && ++levels <= Format.MAX_DEPTH && size < MAX_BYTES)
      size = new Sampler(format, seen).add(root, levels, false, samples); // for shapes that only deeper samples have
    return samples;
  }

  /**
   * Adds samples until each choice was used. Returns the size of the largest sample in bytes.
   *
   * @param keepsAll if false, a sample is added only if it has a shape that no earlier sample has
   */
  private int add(Shape root, int levels, boolean keepsAll, Map<String, byte[]> samples) {
    int maxSize = 0;
    do {
      int seenBefore = seen.size();
      out = format.newWriter();
      root.sample(this, levels);
      byte[] sample = out.written();
      maxSize = Math.max(maxSize, sample.length);
      if (!keepsAll && seen.size() == seenBefore) continue;
      String name = root.sampleName(format.newReader(sample));
      int number = 1;
      while (samples.containsKey(name + "-" + number)) number++;
      samples.put(name + "-" + number, sample);
    } while (!unfinished.isEmpty());
    return maxSize;
  }

  /** Marks a shape as part of a sample. Called for records, enums and sealed types. */
  void markSeen(Shape shape) {
    seen.add(shape);
  }

  FormatWriter out() {
    return out;
  }

  /**
   * Returns the index of the choice that a shape writes next. Successive calls return all indexes
   * from 0 to {@code count - 1}, then again from 0.
   */
  int nextChoice(Shape shape, int count) {
    int earlierChoices = choicesUsed.merge(shape, 1, Integer::sum) - 1;
    if (earlierChoices == 0 && count > 1) unfinished.add(shape);
    if (earlierChoices >= count - 1) unfinished.remove(shape);
    return earlierChoices % count;
  }
}
