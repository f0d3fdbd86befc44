package io.fibry.codec;

import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;

/** Makes values such that each choice and each constant is in one of them. Of one thread. */
final class Sampler {
  private final Map<Shape, Integer> turns = new HashMap<>();
  private final Set<Shape> unfinished = new HashSet<>();
  private final Format format;
  private ItemWriter out;

  private Sampler(Format format) {
    this.format = format;
  }

  /** Values of a shape, by names that say what they are. */
  static Map<String, byte[]> samples(Shape root, Format format) {
    var sampler = new Sampler(format);
    int levels = 1;
    while (!root.fits(levels) && levels < Format.DEEPEST) levels++;
    var samples = new LinkedHashMap<String, byte[]>();
    do {
      sampler.out = format.newWriter();
      root.sample(sampler, levels + 2); // so that containers have elements
      byte[] sample = sampler.out.written();
      String name = sampler.name(root, sample);
      int number = 1;
      while (samples.containsKey(name + "-" + number)) number++;
      samples.put(name + "-" + number, sample);
    } while (!sampler.unfinished.isEmpty());
    return samples;
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
  int next(Shape shape, int count) {
    int turn = turns.merge(shape, 1, Integer::sum) - 1;
    if (turn == 0 && count > 1) unfinished.add(shape);
    if (turn >= count - 1) unfinished.remove(shape);
    return turn % count;
  }
}
