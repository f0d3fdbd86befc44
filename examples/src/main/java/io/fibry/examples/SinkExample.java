package io.fibry.examples;

import io.fibry.stereotype.Stereotypes;
import java.util.TreeSet;

/** Any object as an actor: many threads can use a set that is not thread-safe. */
class SinkExample {
  public static void main(String[] args) {
    var names = Stereotypes.fibers().sink(new TreeSet<String>());

    names.execAsync(set -> set.add("Bob")); // returns at once
    names.execAndWait(set -> set.add("Ada")); // waits until it is done
    int size = names.ask(set -> set.size());
    var first = names.execFuture(TreeSet::first); // returns a future

    System.out.println(size + " names, first of all " + first.join());
    names.close();
  }
}
