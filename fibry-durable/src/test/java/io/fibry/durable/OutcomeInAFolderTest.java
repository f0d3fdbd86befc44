package io.fibry.durable;

class OutcomeInAFolderTest extends OutcomeContract {
  OutcomeInAFolderTest() {
    super(Folders::new);
  }
}
