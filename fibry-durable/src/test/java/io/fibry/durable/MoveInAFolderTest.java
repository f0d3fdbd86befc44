package io.fibry.durable;

class MoveInAFolderTest extends MoveContract {
  MoveInAFolderTest() {
    super(Folders::new);
  }
}
