package io.fibry.cluster.wire;

import io.fibry.AskCycleException;
import io.fibry.Request;
import io.fibry.cluster.spi.WireMessage;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * An actor in a chain of requests: its handler waits for the answer of the next actor, or it is the
 * last actor and handles the request. A header of each request has the entries of the actors that
 * wait for its answer, at most the last 32. If the asked actor is one of them, its node recognizes
 * the cycle of waits at once.
 *
 * @param nodeLife the actor's node: its name, and the life that it got when it joined
 * @param actor the name of the actor
 */
public record AskChainEntry(String nodeLife, String actor) {
  private static final int MAX_ENTRIES = 32; // in a header; if there are more askers, the first are left out
  private static final String SEPARATOR = "\t";
  private static final Pattern ESCAPED = Pattern.compile("\\\\(.)");

  public static String toHeader(List<String> askers) {
    return String.join(SEPARATOR, askers.subList(Math.max(0, askers.size() - MAX_ENTRIES), askers.size()));
  }

  private static List<String> of(WireMessage wire) {
    return wire.header(Destination.ASKERS).map(text -> List.of(text.split(SEPARATOR))).orElse(List.of());
  }

  /** Returns the actors that wait for a message, and this actor, which will handle it. */
  public List<String> chainOf(WireMessage wire) {
    var chain = new ArrayList<>(of(wire));
    chain.add(toString());
    return chain;
  }

  /** Returns whether this actor waits, perhaps through others, for the actor that asks it now. */
  public boolean isWaitingFor(WireMessage wire) {
    return of(wire).contains(toString());
  }

  /** Returns the exception for the asker, with the actors of the cycle. */
  public AskCycleException cycleException(WireMessage wire, Request<?, ?> request) {
    var names = new ArrayList<String>();
    for (var entry : of(wire))
      if (!names.isEmpty() || entry.equals(toString())) names.add(unescaped(entry.substring(entry.indexOf(' ') + 1)));
    names.add(actor);
    var waits = new ArrayList<String>();
    for (int i = 1; i < names.size(); i++) waits.add("'" + names.get(i - 1) + "' waits for '" + names.get(i) + "'");
    return new AskCycleException("this wait could never end: " + String.join(", ", waits)
        + ". Send without waiting, or answer with replyWhen", actor, request, names);
  }

  @Override
  public String toString() {
    return nodeLife + " " + actor.replace("\\", "\\\\").replace(SEPARATOR, "\\t");
  }

  /** Returns the name whose escaped form {@link #toString} gives. */
  private static String unescaped(String name) {
    return ESCAPED.matcher(name).replaceAll(
        escaped -> escaped.group().equals("\\t") ? SEPARATOR : Matcher.quoteReplacement(escaped.group(1)));
  }
}
