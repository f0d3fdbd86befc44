package io.fibry.examples;

import io.fibry.stereotype.Stereotypes;
import java.util.TreeSet;

/** Any object as an actor: a set that is not made for many threads, used by many. */
class SinkExample {
  public static void main(String[] args) {
    var names = Stereotypes.fibers().sink(new TreeSet<String>());

    names.execAsync(set -> set.add("Bob")); // some time
    names.execAndWait(set -> set.add("Ada")); // now
    int size = names.ask(set -> set.size());
    var first = names.execFuture(TreeSet::first); // a future

    System.out.println(size + " names, first of all " + first.join());
    names.close();
  }
}
