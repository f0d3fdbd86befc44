package io.fibry.cluster;

import io.fibry.AskCycleException;
import io.fibry.Request;
import io.fibry.cluster.spi.WireMessage;
import java.util.ArrayList;
import java.util.List;

/**
 * An actor of a node whose handler waits for others, as a text that goes along with what it asks.
 * So an actor that is asked by an actor that waits for it is told at once.
 *
 * @param life of its node
 * @param actor its name
 */
record AskChainEntry(String life, String actor) {
  private static final int MAX_ENTRIES = 32; // the last ones
  private static final String SEPARATOR = "\t";

  static String header(List<String> askers) {
    return String.join(SEPARATOR, askers.subList(Math.max(0, askers.size() - MAX_ENTRIES), askers.size()));
  }

  private static List<String> of(WireMessage wire) {
    return wire.header(Route.ASKERS).map(text -> List.of(text.split(SEPARATOR))).orElse(List.of());
  }

  /** Returns the actors that wait for a message, and this actor, which will handle it. */
  List<String> chainOf(WireMessage wire) {
    var all = new ArrayList<>(of(wire));
    all.add(toString());
    return all;
  }

  /** Whether this actor waits for the actor that asks it now. */
  boolean isWaitingFor(WireMessage wire) {
    return of(wire).contains(toString());
  }

  /** For who asks. */
  AskCycleException cycleException(WireMessage wire, Request<?, ?> request) {
    var names = new ArrayList<String>();
    for (var one : of(wire))
      if (!names.isEmpty() || one.equals(toString())) names.add(one.substring(one.indexOf(' ') + 1));
    names.add(actor);
    var waits = new ArrayList<String>();
    for (int i = 1; i < names.size(); i++) waits.add("'" + names.get(i - 1) + "' waits for '" + names.get(i) + "'");
    return new AskCycleException("this wait could never end: " + String.join(", ", waits)
        + ". Send without waiting, or answer with replyWhen", actor, request, names);
  }

  @Override
  public String toString() {
    return life + " " + actor.replace("\\", "\\\\").replace(SEPARATOR, "\\t");
  }
}
