package io.fibry.mailbox;

import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;

/** The seats whose workers rest, who rests longest first. Guarded by the queue. */
final class Resting<E> {
  // there may be thousands, and any of them may wake
  private final LinkedHashSet<Seat<E>> seats = new LinkedHashSet<>();

  boolean isEmpty() {
    return seats.isEmpty();
  }

  /** One that is to go does not rest. */
  void add(Seat<E> seat) {
    seat.stamped = false;
    seat.rests = !seat.retired;
    if (seat.rests) seats.add(seat);
  }

  /** Who rests since the shortest time; null: nobody. */
  Seat<E> wakeLast() {
    if (seats.isEmpty()) return null;
    var seat = seats.removeLast();
    seat.rests = false;
    return seat;
  }

  void wake(Seat<E> seat) {
    if (seat.rests) seats.remove(seat);
    seat.rests = false;
  }

  /** At most so many that have rested for so long, to go. */
  List<Seat<E>> retire(int most, long now, long calm) {
    var gone = new ArrayList<Seat<E>>();
    while (gone.size() < most && !seats.isEmpty() && seats.getFirst().stamped && now - seats.getFirst().since >= calm) {
      var seat = seats.removeFirst();
      seat.rests = false;
      seat.retired = true;
      gone.add(seat);
    }
    return gone;
  }

  /** How long until the first has rested for so long; 0: nobody knows. */
  long untilCalm(long now, long calm) {
    return !seats.isEmpty() && seats.getFirst().stamped ? Math.max(1, calm - (now - seats.getFirst().since)) : 0;
  }
}
