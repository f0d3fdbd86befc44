package io.fibry;

import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Consumer;

/** A dead-letter listener that remembers. */
final class Letters implements Consumer<DeadLetter> {
  final List<DeadLetter> all = new CopyOnWriteArrayList<>();

  @Override
  public void accept(DeadLetter letter) {
    all.add(letter);
  }

  List<Object> messages() {
    return all.stream().map(DeadLetter::message).toList();
  }

  List<Object> messages(DeadLetter.Reason reason) {
    return all.stream().filter(l -> l.reason() == reason).map(DeadLetter::message).toList();
  }
}
