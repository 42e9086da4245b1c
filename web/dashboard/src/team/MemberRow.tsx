import { useSession } from "../api/session";
import type { Member, Role } from "../api/types";
import { Button } from "../ui/Button";
import { Select } from "../ui/choices";
import { KeyIcon, MailIcon, MoreIcon, TrashIcon } from "../ui/icons";
import { Avatar } from "../ui/marks";
import { Menu, MenuItem } from "../ui/Menu";
import { useChangeRole, useRecover } from "./changes";
import type { PersonalLink } from "./LinkDialog";
import { mayManage, roleNames, rolesToGive } from "./roles";

interface Props {
  member: Member;
  onLink(link: PersonalLink): void;
  onRemove(): void;
}

export function MemberRow({ member, onLink, onRemove }: Props) {
  const me = useSession();
  const changeRole = useChangeRole();
  const recover = useRecover(onLink);
  const managed = mayManage(me, member);
  return (
    <li className="member">
      <Avatar name={member.name} />
      <div className="member-names">
        <p>
          <span className="member-name">{member.name}</span>
          {member.id === me.user.id && <span className="mark">You</span>}
          {member.invited && <span className="mark">Invited</span>}
        </p>
        <p className="quiet small">{member.email}</p>
      </div>
      {managed ? (
        <div className="member-role">
          <Select<Role>
            hideLabel
            label={`Role of ${member.name}`}
            value={member.role}
            options={rolesToGive(me.role)}
            onChange={(role) => changeRole(member, role)}
          />
        </div>
      ) : (
        <p className="member-role quiet small">{roleNames[member.role]}</p>
      )}
      {managed ? (
        <Menu
          label={`Actions for ${member.name}`}
          button={
            <Button kind="quiet" icon aria-label={`Actions for ${member.name}`}>
              <MoreIcon />
            </Button>
          }
        >
          <MenuItem onAction={() => recover.mutate({ member, send: false })}>
            <KeyIcon size={16} />
            {member.invited ? "New invitation link" : "Password reset link"}
          </MenuItem>
          {me.mail && (
            <MenuItem onAction={() => recover.mutate({ member, send: true })}>
              <MailIcon size={16} />
              {member.invited ? "E-mail a new invitation link" : "E-mail a password reset link"}
            </MenuItem>
          )}
          <MenuItem danger onAction={onRemove}>
            <TrashIcon size={16} />
            Remove…
          </MenuItem>
        </Menu>
      ) : (
        me.can("admin") && <span className="member-gap" />
      )}
    </li>
  );
}
