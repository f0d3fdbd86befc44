package io.fibry.testing;

import io.fibry.DeadLetter;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Consumer;

/** A dead-letter listener that records all letters. */
public final class RecordedLetters implements Consumer<DeadLetter> {
  public final List<DeadLetter> all = new CopyOnWriteArrayList<>();

  @Override
  public void accept(DeadLetter letter) {
    all.add(letter);
  }

  public List<Object> messages() {
    return all.stream().map(DeadLetter::message).toList();
  }

  public List<Object> messages(DeadLetter.Reason reason) {
    return all.stream().filter(l -> l.reason() == reason).map(DeadLetter::message).toList();
  }
}
