package io.fibry.durable;

class EndedInNatsTest extends EndedContract {
  EndedInNatsTest() {
    super(InNats.maker());
  }
}
